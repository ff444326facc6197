/** What a service leaves out of its list: `layerhost.exclude` in its package.json. */
import * as nodePath from "node:path"
import * as GenerateError from "./GenerateError.ts"
import type { PackageJson } from "./PackageJson.ts"

/** The entries of the list: files (`./src/old/**`), packages, ids of plugins, names of what stands alone. */
export class Exclusion {
  readonly #service: PackageJson
  readonly #entries: ReadonlyArray<string>
  readonly #used = new Set<string>()

  constructor(service: PackageJson) {
    this.#service = service
    this.#entries = service.contents.layerhost?.exclude ?? []
  }

  /** Whether a file is left out; the path is relative to the service. */
  hasFile(file: string): boolean {
    return this.#some(
      (entry) =>
        entry.startsWith("./") &&
        [entry.slice(2), `${entry.slice(2)}/**`].some((pattern) => nodePath.matchesGlob(file, pattern))
    )
  }

  hasPackage(name: string): boolean {
    return this.#some((entry) => entry === name)
  }

  /** Whether a plugin or a part is left out. */
  hasId(id: string | undefined): boolean {
    return this.#some((entry) => entry === id)
  }

  /** An error for each entry that names nothing. */
  unused(): ReadonlyArray<GenerateError.GenerateError> {
    return this.#entries
      .filter((entry) => !this.#used.has(entry))
      .map((entry) => {
        const description = entry.startsWith("./")
          ? `"exclude" names no source file: "${entry}"`
          : `"exclude" names no package, no plugin's id and nothing that stands alone: "${entry}"`
        return GenerateError.at(this.#service.file, this.#service.lineOf("layerhost", entry), description)
      })
  }

  #some(matches: (entry: string) => boolean): boolean {
    const found = this.#entries.filter(matches)
    for (const entry of found) this.#used.add(entry)
    return found.length > 0
  }
}
