/**
 * What the configuration tells the file backend.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as EncryptionKey from "./EncryptionKey.ts"
import type * as FileBackend from "./FileBackend.ts"
import type * as FileEncryption from "./FileEncryption.ts"
import { SecretStoreMisconfigured } from "./SecretServerOptions.ts"
import type { SecretStoreConfig } from "./SecretStoreConfig.ts"

type Config = SecretStoreConfig["Service"]

/** The options that a configuration asks for. A file of keys is read here. */
export const fromConfig = Effect.fnUntraced(function* (
  config: Config
): Effect.fn.Return<FileBackend.Options, SecretStoreMisconfigured, FileSystem.FileSystem> {
  const encryption = yield* encryptionOf(config)
  return {
    path: config.localFileSystemPath,
    totpPeriodInSeconds: config.totpPeriodInSeconds,
    versionsKept: config.localFileSystemVersions,
    ...(encryption !== undefined && { encryption })
  }
})

const encryptionOf = Effect.fnUntraced(function* (
  config: Config
): Effect.fn.Return<FileEncryption.Options | undefined, SecretStoreMisconfigured, FileSystem.FileSystem> {
  const inFile = config.encryptionKeyFile === "" ? [] : yield* keysIn(config.encryptionKeyFile)
  // The section's Schema has let only texts of keys through.
  const inSection = config.encryptionKey === undefined ? [] : [parsed(config.encryptionKey)]
  const [key, ...formerKeys] = [...inSection, ...inFile, ...config.formerEncryptionKeys.map(parsed)]
  return key === undefined ? undefined : { key, formerKeys, acceptPlainFiles: config.acceptPlainFiles }
})

const parsed = (text: Redacted.Redacted): EncryptionKey.EncryptionKey => Result.getOrThrow(EncryptionKey.parse(text))

/** The keys in a file, one in each line; empty lines and those that begin with `#` say nothing. */
const keysIn = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const fault = (message: string) =>
    new SecretStoreMisconfigured({ faults: [{ key: "encryptionKeyFile", message: `${file}: ${message}` }] })
  const text = yield* Effect.mapError(fs.readFileString(file), (error) => fault(error.message))
  const lines = [...text.split("\n").entries()].filter(([, line]) => !/^\s*(?:#|$)/.test(line))
  if (lines.length === 0) return yield* fault("Expected a key in the first line")
  return yield* Effect.forEach(lines, ([index, line]) =>
    Effect.mapError(Effect.fromResult(EncryptionKey.parse(Redacted.make(line))), (message) =>
      fault(`line ${index + 1}: ${message}`)
    )
  )
})
