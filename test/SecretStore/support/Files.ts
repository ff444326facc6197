/** Real files in a directory of the test's own, and ways to break one operation on them. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as PlatformError from "effect/PlatformError"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import { randomBytes } from "node:crypto"
import * as fs from "node:fs"
import * as os from "node:os"
import * as path from "node:path"
import { NodeFs } from "../../../src/SecretStore/NodeFiles.ts"
import * as EncryptionKey from "../../../src/SecretStore/EncryptionKey.ts"

export const platform = Layer.mergeAll(NodeFileSystem.layer, NodePath.layer)

/** A directory that is removed with the scope. */
export const temporaryDirectory = Effect.acquireRelease(
  Effect.sync(() => fs.mkdtempSync(path.join(os.tmpdir(), "secrets-"))),
  (directory) => Effect.sync(() => fs.rmSync(directory, { recursive: true, force: true }))
)

/** Every file below a directory, as paths relative to it, without those that are only there to be locked. */
export const filesBelow = (directory: string): ReadonlyArray<string> =>
  fs
    .readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory() && path.basename(entry.parentPath) !== ".locks")
    .map((entry) => path.relative(directory, path.join(entry.parentPath, entry.name)))
    .toSorted()

export const failure = (method: string, tag: PlatformError.SystemErrorTag) =>
  Effect.fail(PlatformError.systemError({ _tag: tag, module: "FileSystem", method }))

/** The real file system with some operations replaced. */
export const fileSystemWith = (change: (real: FileSystem.FileSystem) => Partial<FileSystem.FileSystem>) =>
  Layer.effect(
    FileSystem.FileSystem,
    Effect.map(FileSystem.FileSystem, (real) => ({ ...real, ...change(real) }))
  ).pipe(Layer.provideMerge(NodePath.layer), Layer.provide(NodeFileSystem.layer))

/** The real file system, with some of the functions replaced that reads and writes of secrets call. */
export const nodeFsWith = (changes: Partial<NodeFs>) =>
  Layer.merge(platform, Layer.succeed(NodeFs, { ...(fs as NodeFs), ...changes }))

/** What a function of `node:fs` gives to its callback where it fails. */
export const systemError = (code: string): NodeJS.ErrnoException =>
  Object.assign(new Error(`${code}: broken by a test`), { code })

export const encryptionKey = (): EncryptionKey.EncryptionKey =>
  Result.getOrThrow(EncryptionKey.parse(Redacted.make(randomBytes(32).toString("base64"))))
