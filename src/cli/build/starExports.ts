/**
 * Spells out `export * from "a-package"` where the package is CommonJS. The bundler does not know what such a package exports, and
 * would leave that out of a module that is imported later; Node's own import knows.
 */
import { parseSync } from "oxc-parser"
import { pathToFileURL } from "node:url"
import type { Plugin } from "rolldown"

export const starExports: Plugin = {
  name: "layerhost:star-exports",
  transform: {
    // From a package: a file beside it is a module of the same kind.
    filter: { code: /\bexport\s*\*\s*from\s*["'][^."']/ },
    async handler(code, importer) {
      const { staticExports } = parseSync(importer, code).module
      const own = new Set(staticExports.flatMap(({ entries }) => entries.map(({ exportName }) => exportName.name)))
      let spelledOut = code
      for (const { end, entries, start } of staticExports.toReversed()) {
        const star = entries.find(({ importName }) => importName.kind === "AllButDefault")
        const specifier = star?.moduleRequest?.value
        if (specifier === undefined) continue
        const resolved = await this.resolve(specifier, importer)
        if (resolved === null || resolved.external !== false || resolved.id.startsWith("\0")) continue
        if ((await this.load({ id: resolved.id })).inputFormat !== "cjs") continue
        const exports: object = await import(pathToFileURL(resolved.id).href)
        const names = Object.keys(exports).filter((name) => name !== "default" && isName.test(name) && !own.has(name))
        spelledOut = `${spelledOut.slice(0, start)}export { ${names.join(", ")} } from ${JSON.stringify(specifier)};${spelledOut.slice(end)}`
      }
      return spelledOut === code ? undefined : { code: spelledOut }
    }
  }
}

/** Node also has an export named "module.exports". */
const isName = /^[\p{L}_$][\p{L}\p{N}_$]*$/u
