import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import * as fs from "node:fs/promises"
import { promisify } from "node:util"

export const chmod = (path: string, mode: number) => Effect.promise(() => fs.chmod(path, mode))

export const mkfifo = (path: string) => Effect.promise(() => promisify(execFile)("mkfifo", [path]))
