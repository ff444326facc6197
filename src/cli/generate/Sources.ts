/**
 * The files that were read, and the modules among them that were parsed. Files are read in place rather than by Effect's
 * `FileSystem`: thousands of small ones are read in every run, and names are followed from one to the next.
 */
import { readFileSync, statSync } from "node:fs"
import * as nodePath from "node:path"
import * as GenerateError from "./GenerateError.ts"
import type { PackageJson } from "./PackageJson.ts"
import * as SourceModule from "./SourceModule.ts"

interface Parsed {
  readonly text: string
  readonly module: SourceModule.SourceModule | GenerateError.GenerateError
}

/** Kept from run to run in watch mode: what has not changed is not parsed again. */
export class Sources {
  /** What was wrong with the files of this run. */
  readonly problems = new Map<string, GenerateError.GenerateError>()
  /** The directories of the files of this run. */
  readonly directories = new Set<string>()
  /** How many modules this run has parsed. */
  parsed = 0
  readonly #parsed = new Map<string, Parsed>()
  readonly #texts = new Map<string, string | undefined>()

  /** Begins a run: every file is read anew. */
  begin(): void {
    this.problems.clear()
    this.directories.clear()
    this.#texts.clear()
    this.parsed = 0
  }

  /** The text of a file; `undefined` where there is none. */
  text(file: string): string | undefined {
    if (this.#texts.has(file)) return this.#texts.get(file)
    const text = this.#read(file)
    this.#texts.set(file, text)
    return text
  }

  /** Whether there is a file. */
  exists(file: string): boolean {
    return this.#texts.get(file) !== undefined || statSync(file, { throwIfNoEntry: false })?.isFile() === true
  }

  /** A module of a package; `undefined` where there is none, or where it cannot be read. */
  module(file: string, owner: PackageJson): SourceModule.SourceModule | undefined {
    const text = this.text(file)
    if (text === undefined) return undefined
    let parsed = this.#parsed.get(file)
    if (parsed?.text !== text) {
      this.parsed++
      parsed = { text, module: SourceModule.parse(file, text, owner) }
      this.#parsed.set(file, parsed)
    }
    if (!(parsed.module instanceof GenerateError.GenerateError)) return parsed.module
    this.problems.set(file, parsed.module)
    return undefined
  }

  #read(file: string): string | undefined {
    this.directories.add(nodePath.dirname(file))
    try {
      return readFileSync(file, "utf8")
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      if (code !== "ENOENT" && code !== "ENOTDIR") {
        this.problems.set(file, GenerateError.at(file, undefined, `cannot be read: ${message}`))
      }
      return undefined
    }
  }
}
