/**
 * Points the entries of package.json (`exports` and `bin`) at what was built, or back at the sources.
 *
 * In the repository everything runs from its sources. Node does not strip types below node_modules, so that a package has
 * to hold JavaScript: `prepack` points its entries at `dist`, and `postpack` points them back.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { resolve } from "node:path"

/** The text of package.json with its entries in `dist`. */
export const toDist = (text: string): string => text.replace(/"\.\/src\/([^"]+)\.[jt]s"/g, `"./dist/$1.js"`)

/** The text of package.json with its entries in `src`. QuickStart is JavaScript there, too: to strip its types would take longer than it spares. */
export const toSource = (text: string): string =>
  text.replace(/"\.\/dist\/([^"]+)\.js"/g, (_, name) => `"./src/${name}.${name === "QuickStart" ? "js" : "ts"}"`)

if (import.meta.main) {
  const file = resolve(import.meta.dirname, "../package.json")
  const text = readFileSync(file, "utf8")
  const [target] = process.argv.slice(2)
  if (target !== "dist" && target !== "src") throw new Error("Usage: node scripts/entryPoints.ts dist|src")
  writeFileSync(file, target === "dist" ? toDist(text) : toSource(text))
}
