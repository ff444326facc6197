/** Certificates in files of a directory that goes with the scope. */
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { SelfSigned } from "./selfSigned.ts"

/** A directory for the files of a test. */
export const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "layerhost-tls-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

/** Writes a certificate and its key, and tells where they stand. */
export const write = (path: string, { certificate, key }: Pick<SelfSigned, "certificate" | "key">) => {
  const certificatePath = join(path, "tls.crt")
  const keyPath = join(path, "tls.key")
  writeFileSync(certificatePath, certificate)
  writeFileSync(keyPath, key)
  return { certificatePath, keyPath, passphrase: undefined }
}
