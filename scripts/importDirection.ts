/**
 * Imports run Host → Plugins ← SecretStore, file by file, and only entry points know the platform.
 *
 * - A folder of src imports from the folders that `mayImport` gives it, and from no other.
 * - No file imports an index.ts; one index.ts may re-export another.
 * - `effect` is imported module by module: a barrel loads everything behind it at every start.
 * - `@effect/platform-node` is imported by src/cli and by the files of `platformFiles`.
 */
import { posix } from "node:path"
import { run, type Rule } from "./sourceRule.ts"

const mayImport: Readonly<Record<string, ReadonlyArray<string>>> = {
  Plugins: ["Plugins"],
  Host: ["Host", "Plugins"],
  SecretStore: ["SecretStore", "Plugins"],
  testing: ["testing", "Host", "Plugins"],
  cli: ["cli", "Host", "Plugins", "SecretStore"]
}

/** The host's own defaults: what listens, and what a service is given when it says nothing else. */
const platformFiles = [
  "src/Host/FastPath/NodeRequest.ts",
  "src/Host/Http/Listener.ts",
  "src/Host/Platform.ts",
  "src/SecretStore/SecretServerConnections.ts"
]

export const importDirection: Rule = ({ file, text, ast, lineAt }) => {
  const { staticImports, staticExports, dynamicImports } = ast.module
  const requests = [
    ...staticImports.map(({ moduleRequest }) => moduleRequest),
    ...staticExports.flatMap(({ entries }) => entries.slice(0, 1).flatMap(({ moduleRequest }) => moduleRequest ?? [])),
    ...dynamicImports.map(({ moduleRequest }) => moduleRequest)
  ]
  return requests
    .toSorted((a, b) => a.start - b.start)
    .flatMap(({ start, end }) => {
      // A dynamic import of anything but a literal says nothing that could be checked.
      const specifier = /^(["'])(.*)\1$/.exec(text.slice(start, end))?.[2]
      const message = specifier === undefined ? undefined : objection(file, specifier)
      return message === undefined ? [] : [{ line: lineAt(start), message }]
    })
}

const objection = (file: string, specifier: string): string | undefined => {
  if (specifier.startsWith(".")) return objectionToFile(file, posix.join(posix.dirname(file), specifier))
  if (/^layerhost(\/|$)/.test(specifier)) return `src imports its own files by path, not as "${specifier}"`
  if (/^(effect(\/[a-z-]+)?|@effect\/platform-node)$/.test(specifier)) {
    return `"${specifier}" is a barrel: import the module itself, for example "effect/Effect"`
  }
  if (specifier.startsWith("@effect/platform-node/") && folderOf(file) !== "cli" && !platformFiles.includes(file)) {
    return `only src/cli and ${platformFiles.join(", ")} import @effect/platform-node`
  }
  return undefined
}

const objectionToFile = (file: string, target: string): string | undefined => {
  // Neither of them imports anything of src.
  if (target === "package.json" || target === "src/QuickStart.js") return undefined
  if (!target.startsWith("src/")) return `src imports nothing from outside but package.json: ${target}`
  if (posix.basename(target) === "index.ts" && posix.basename(file) !== "index.ts") {
    return `import the module itself, not ${target}`
  }
  const folder = folderOf(file)
  if (folder === undefined) return undefined
  const allowed = mayImport[folder]
  if (allowed === undefined) return `scripts/importDirection.ts does not say what src/${folder} may import`
  return allowed.includes(folderOf(target) ?? "")
    ? undefined
    : `src/${folder} may import from ${allowed.map((it) => `src/${it}`).join(" and ")} only: ${target}`
}

/** The folder of src in which a file is; `undefined` for a file of src itself. */
const folderOf = (file: string): string | undefined => /^src\/([^/]+)\//.exec(file)?.[1]

if (import.meta.main) run(["src/**/*.ts"], importDirection)
