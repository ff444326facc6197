/**
 * What plugins provide and require, as the compiler knows it: at run time nothing of it is left.
 *
 * A module that names the types of the list is compiled beside the service, and its declaration read. TypeScript is the
 * service's own.
 */
import * as Effect from "effect/Effect"
import { FileSystem } from "effect/FileSystem"
import { execFile } from "node:child_process"
import * as nodePath from "node:path"
import { findCompiler } from "../Compiler.ts"
import type { Expression, PropertyKey, TSType } from "oxc-parser"

/** The keys of services, by the id of the plugin. */
export type ServiceNames = ReadonlyMap<
  string,
  { readonly provides: ReadonlyArray<string>; readonly requires: ReadonlyArray<string> }
>

/** Asks the compiler; `undefined` where TypeScript is not installed, or could make nothing of the service. */
export const find = Effect.fn("ServiceNames.find")(function* (directory: string, pluginModule: string) {
  const compiler = findCompiler(directory)
  if (compiler === undefined) return undefined
  const fs = yield* FileSystem
  const temporary = yield* fs.realPath(yield* fs.makeTempDirectoryScoped({ prefix: "layerhost-plugins-" }))
  yield* fs.writeFileString(nodePath.join(temporary, "names.mts"), source(pluginModule))
  const config = nodePath.join(temporary, "tsconfig.json")
  const own = nodePath.join(directory, "tsconfig.json")
  yield* fs.writeFileString(config, JSON.stringify(tsconfig(directory, (yield* fs.exists(own)) ? own : undefined)))
  // A service with type errors may still say what its plugins need: only what was written counts.
  yield* Effect.callback<void>((resume) => {
    const child = execFile(process.execPath, [compiler, "-p", config], () => resume(Effect.void))
    return Effect.sync(() => child.kill())
  })
  const written = (yield* fs.readDirectory(temporary, { recursive: true })).find((file) => file.endsWith("names.d.mts"))
  if (written === undefined) return undefined
  return yield* read(yield* fs.readFileString(nodePath.join(temporary, written)))
}, Effect.scoped)

const source = (pluginModule: string): string => `
import * as service from ${JSON.stringify(pluginModule)}
type Exported = (typeof service)[keyof typeof service]
type Listed<T> = T extends ReadonlyArray<infer Each> ? Each : T
interface Plugin {
  readonly id: string
  readonly "~layerhost/Plugins/Plugin": { readonly Provides: (_: never) => unknown; readonly Requires: (_: never) => unknown }
}
type Plugins = Extract<Listed<Exported>, Plugin>
type Provided<P extends Plugin> = P["~layerhost/Plugins/Plugin"]["Provides"] extends (_: never) => infer A ? A : never
type Required<P extends Plugin> = P["~layerhost/Plugins/Plugin"]["Requires"] extends (_: never) => infer A ? A : never
type Keys<Service> = Service extends { readonly key: infer Key extends string } ? Key : "(without a name)"
declare const expand: <T>() => { [K in keyof T]: T[K] }
export const names = expand<{
  [P in Plugins as P["id"]]: {
    provides: { [Key in Keys<Provided<P>>]: true }
    requires: { [Key in Keys<Required<P>>]: true }
  }
}>()
`

const tsconfig = (directory: string, own: string | undefined) => ({
  ...(own === undefined ? undefined : { extends: own }),
  compilerOptions: {
    ...(own === undefined ? { target: "esnext", module: "nodenext", strict: true, skipLibCheck: true } : undefined),
    noEmit: false,
    emitDeclarationOnly: true,
    declaration: true,
    declarationMap: false,
    isolatedDeclarations: false,
    composite: false,
    incremental: false,
    allowImportingTsExtensions: true,
    rootDir: "/",
    outDir: "out",
    typeRoots: ancestors(directory).map((parent) => nodePath.join(parent, "node_modules/@types"))
  },
  files: ["names.mts"],
  include: [],
  references: []
})

const ancestors = (directory: string): ReadonlyArray<string> => {
  const parent = nodePath.dirname(directory)
  return parent === directory ? [directory] : [directory, ...ancestors(parent)]
}

/** Reads `export declare const names: { … }`, whose types are literals of types down to `true`. */
const read = Effect.fnUntraced(function* (declaration: string) {
  const { Visitor, parseSync } = yield* Effect.promise(() => import("oxc-parser"))
  let names: ServiceNames = new Map()
  new Visitor({
    VariableDeclarator: ({ id }) => {
      const type = "typeAnnotation" in id ? id.typeAnnotation?.typeAnnotation : undefined
      names = new Map(
        members(type).map(([plugin, about]) => {
          const of = new Map(members(about))
          const keys = (field: string) => members(of.get(field)).map(([key]) => key)
          return [plugin, { provides: keys("provides"), requires: keys("requires") }]
        })
      )
    }
  }).visit(parseSync("names.d.mts", declaration).program)
  return names
})

const members = (type: TSType | undefined): ReadonlyArray<readonly [string, TSType | undefined]> =>
  type?.type !== "TSTypeLiteral"
    ? []
    : type.members.flatMap((member) =>
        member.type === "TSPropertySignature"
          ? [[nameOf(member.key), member.typeAnnotation?.typeAnnotation] as const]
          : []
      )

const nameOf = (key: PropertyKey | Expression): string =>
  key.type === "Identifier" ? key.name : key.type === "Literal" ? String(key.value) : ""
