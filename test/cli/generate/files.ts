/** Small packages on a real disk. */
import * as Effect from "effect/Effect"
import { FileSystem } from "effect/FileSystem"
import * as nodePath from "node:path"

/** Writes the files, by path, into a temporary directory that lives as long as the scope. JSON is given as a value. */
export const makeFiles = Effect.fnUntraced(function* (files: Readonly<Record<string, unknown>>) {
  const fs = yield* FileSystem
  const directory = yield* Effect.flatMap(fs.makeTempDirectoryScoped({ prefix: "layerhost-generate-" }), fs.realPath)
  yield* makeFilesIn(directory, files)
  return directory
})

/** Writes the files, by path, into a directory. */
export const makeFilesIn = Effect.fnUntraced(function* (directory: string, files: Readonly<Record<string, unknown>>) {
  const fs = yield* FileSystem
  for (const [path, contents] of Object.entries(files)) {
    const file = nodePath.join(directory, path)
    yield* fs.makeDirectory(nodePath.dirname(file), { recursive: true })
    yield* fs.writeFileString(file, typeof contents === "string" ? contents : JSON.stringify(contents, null, 2))
  }
})

/** A package that declares one module with one plugin. */
export const metricsPackage = {
  "node_modules/@acme/metrics/package.json": {
    name: "@acme/metrics",
    version: "1.2.3",
    exports: { "./plugin": { types: "./plugin.d.ts", import: "./plugin.js" } },
    layerhost: { plugins: ["@acme/metrics/plugin"] }
  },
  "node_modules/@acme/metrics/plugin.js": `import { Plugin } from "layerhost/Plugins"
export const metrics = Plugin.make({ id: "acme/metrics" })
`
}

/** The text of a module that exports one plugin. */
export const pluginModule = (name: string, id = name): string =>
  `import { Plugin } from "layerhost/Plugins"\nexport const ${name} = Plugin.make({ id: "${id}" })\n`
