import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Configuration from "../../../src/Host/Configuration/Configuration.ts"
import {
  type ConfigurationNode,
  type ConfigurationTree,
  hasValue
} from "../../../src/Host/Configuration/ConfigurationTree.ts"

export const layer = NodeServices.layer

/** Files by their path below a directory; an object is written as JSON. */
export type Files = Readonly<Record<string, string | Uint8Array | object>>

/** A directory with files, which is gone when the test ends. */
export const makeDirectory = Effect.fnUntraced(function* (files: Files) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const directory = yield* fs.makeTempDirectoryScoped()
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(directory, name)
    yield* fs.makeDirectory(path.dirname(file), { recursive: true })
    if (content instanceof Uint8Array) yield* fs.writeFile(file, content)
    else yield* fs.writeFileString(file, typeof content === "string" ? content : JSON.stringify(content))
  }
  return directory
})

/** Loads the configuration of a directory with the given files. */
export const loadFiles = Effect.fnUntraced(function* (
  files: Files,
  sources: Omit<Configuration.Sources, "directory"> = {}
) {
  const directory = yield* makeDirectory(files)
  return yield* Configuration.load({ ...sources, directory })
})

/** Every value of a tree by its key in lower case. */
export const values = (tree: ConfigurationTree): Readonly<Record<string, string>> => {
  const found: Array<[string, string]> = []
  const visit = (node: ConfigurationNode, key: string) => {
    if (hasValue(node)) found.push([key, node.scalar.value.text])
    for (const [name, child] of node.children) visit(child, key === "" ? name : `${key}:${name}`)
  }
  visit(tree.root, "")
  return Object.fromEntries(found.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
