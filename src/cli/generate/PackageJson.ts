/** The parts of package.json that matter here: of a service, and of the packages that it installs. */
import * as Effect from "effect/Effect"
import { FileSystem } from "effect/FileSystem"
import * as Schema from "effect/Schema"
import * as nodePath from "node:path"
import * as GenerateError from "./GenerateError.ts"

const Strings = Schema.optionalKey(Schema.Array(Schema.String))

/**
 * The `layerhost` field.
 *
 * A package declares with `plugins` which of its modules export plugins, and with `include` which of its own dependencies
 * bring theirs along.
 *
 * A service may say with `include` where else to look: in files (`./lib/**`) and in installed packages that are not among
 * its `dependencies`; with `exclude` what to leave out: files, packages, ids of plugins, names of what stands alone; with
 * `order` which plugins come before the others: ids, in the order in which they shall run; with `output` where its list goes.
 */
const Layerhost = Schema.Struct({
  plugins: Strings,
  include: Strings,
  exclude: Strings,
  output: Schema.optionalKey(Schema.String),
  order: Strings
})

const Contents = Schema.Struct({
  name: Schema.optionalKey(Schema.String),
  version: Schema.optionalKey(Schema.String),
  main: Schema.optionalKey(Schema.String),
  exports: Schema.optionalKey(Schema.Unknown),
  imports: Schema.optionalKey(Schema.Unknown),
  dependencies: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  optionalDependencies: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  layerhost: Schema.optionalKey(Layerhost)
})

/** A package.json with the place it was read from. */
export interface PackageJson {
  readonly directory: string
  readonly file: string
  readonly contents: typeof Contents.Type
  /** The line on which a string stands, quoted, in a top-level field: for error messages. */
  readonly lineOf: (field: string, text: string) => number | undefined
}

const decode = Schema.decodeUnknownEffect(Schema.fromJsonString(Contents), { errors: "all" })

/** Reads the package.json of a directory; `undefined` when there is none. */
export const read = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem
  const file = nodePath.join(directory, "package.json")
  if (!(yield* fs.exists(file))) return undefined
  const text = yield* fs.readFileString(file)
  const contents = yield* Effect.mapError(decode(text), (error) =>
    GenerateError.at(file, undefined, `not a valid package.json: ${error.message}`)
  )
  const lineOf = (field: string, needle: string) => {
    const start = text.search(new RegExp(`"${field}"\\s*:`))
    const offset = text.indexOf(JSON.stringify(needle), start)
    return offset === -1 ? undefined : GenerateError.lineAt(text, offset)
  }
  const packageJson: PackageJson = { directory, file, contents, lineOf }
  return packageJson
})

/**
 * Finds an installed package by name, as Node would from that directory: in the node_modules folders on the way up. A
 * package that encloses the directory counts as installed under its own name. `undefined` when there is none.
 */
export const find = Effect.fnUntraced(function* (name: string, from: string) {
  const fs = yield* FileSystem
  for (let directory = from; ; directory = nodePath.dirname(directory)) {
    const installed = nodePath.join(directory, "node_modules", name)
    if (yield* fs.exists(nodePath.join(installed, "package.json"))) return yield* read(yield* fs.realPath(installed))
    const enclosing = yield* read(directory)
    if (enclosing?.contents.name === name) return enclosing
    if (directory === nodePath.dirname(directory)) return undefined
  }
})
