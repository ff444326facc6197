/** Follows names through the modules of a package: aliases, namespaces, re-exports, default exports. */
import type { Class, Expression, Function as FunctionNode } from "oxc-parser"
import * as nodePath from "node:path"
import * as PackageExports from "./PackageExports.ts"
import type { Import, Local, SourceModule } from "./SourceModule.ts"
import type { Sources } from "./Sources.ts"

/** What a name comes down to. */
export type Value =
  /** Something of another package: the specifier of its module, and then the names of exports and members. */
  | { readonly _tag: "External"; readonly path: ReadonlyArray<string> }
  | { readonly _tag: "Module"; readonly module: SourceModule }
  | { readonly _tag: "Node"; readonly module: SourceModule; readonly node: Expression | Class | FunctionNode }

/** Resolves the names of one run. */
export class Resolver {
  readonly #sources: Sources
  readonly #found = new Map<string, Value>()
  /** The names that are being followed, so that a circle ends. */
  readonly #active = new Set<string>()

  constructor(sources: Sources) {
    this.#sources = sources
  }

  /** What an expression of a module comes down to; an expression that is none of names is its own value. */
  expression(module: SourceModule, expression: Expression | Class | FunctionNode): Value | undefined {
    const node = unwrap(expression)
    if (node.type === "Identifier") return this.name(module, node.name)
    if (node.type !== "MemberExpression") return { _tag: "Node", module, node }
    if (node.computed || node.property.type !== "Identifier") return undefined
    return this.#member(this.expression(module, node.object), node.property.name)
  }

  /** What a name at the top level of a module comes down to. */
  name(module: SourceModule, name: string): Value | undefined {
    return this.#once(`${module.file} ${name}`, () => {
      const local = module.locals.get(name)
      if (local !== undefined) return this.#local(module, local)
      const origin = module.imports.get(name)
      return origin === undefined ? undefined : this.#import(module, origin)
    })
  }

  /** What a module exports under a name. */
  export(module: SourceModule, name: string): Value | undefined {
    return this.#once(`${module.file} export ${name}`, () => {
      const exported = module.exports.get(name)
      if (typeof exported === "string") return this.name(module, exported)
      if (exported !== undefined) {
        return "node" in exported ? this.#local(module, exported) : this.#import(module, exported)
      }
      if (name === "default") return undefined
      for (const { specifier } of module.stars) {
        const target = this.target(module, specifier)
        const found = this.#member(typeof target === "string" ? this.#module(target, module) : undefined, name)
        if (found !== undefined) return found
        // What another package exports is not looked into: of layerhost's own names, any may be meant.
        if (typeof target === "object" && isLayerhost(target.path[0]!) && isPart(name)) {
          return { _tag: "External", path: [...target.path, name] }
        }
      }
      return undefined
    })
  }

  /** The file of the package, or the name outside it, that an import of a module means. */
  target(module: SourceModule, specifier: string): string | Extract<Value, { _tag: "External" }> {
    const { contents, directory } = module.package
    const internal = contents.name === "layerhost" ? layerhostModule.exec(specifier)?.[1] : undefined
    if (internal !== undefined) return { _tag: "External", path: ["layerhost/Plugins", internal] }
    const mapped = specifier.startsWith("#") ? PackageExports.resolveImport(contents, specifier) : specifier
    const from = mapped === specifier ? nodePath.dirname(module.file) : directory
    const path = mapped?.startsWith(".") ? mapped : PackageExports.resolve(contents, mapped ?? specifier)
    if (path === undefined) return { _tag: "External", path: [mapped ?? specifier] }
    const file = nodePath.resolve(mapped?.startsWith(".") ? from : directory, path)
    // TypeScript has an import name the file that would be built.
    const source = file.replace(/\.([mc]?)js$/, ".$1ts")
    return !this.#sources.exists(file) && this.#sources.exists(source) ? source : file
  }

  #local(module: SourceModule, { node, member }: Local): Value | undefined {
    const value = this.expression(module, node)
    return member === undefined ? value : this.#member(value, member)
  }

  #import(module: SourceModule, { specifier, imported }: Import): Value | undefined {
    const target = this.target(module, specifier)
    const value = typeof target === "string" ? this.#module(target, module) : target
    return imported === undefined ? value : this.#member(value, imported)
  }

  #module(file: string, from: SourceModule): Value | undefined {
    const module = /\.[mc]?[jt]s$/.test(file) ? this.#sources.module(file, from.package) : undefined
    return module && { _tag: "Module", module }
  }

  #member(value: Value | undefined, name: string): Value | undefined {
    if (value?._tag === "External") return { _tag: "External", path: [...value.path, name] }
    if (value?._tag === "Module") return this.export(value.module, name)
    if (value?.node.type !== "ObjectExpression") return undefined
    for (const property of value.node.properties) {
      if (property.type !== "Property" || property.computed || property.key.type !== "Identifier") continue
      if (property.key.name === name) return this.expression(value.module, property.value)
    }
    return undefined
  }

  #once(key: string, resolve: () => Value | undefined): Value | undefined {
    const found = this.#found.get(key)
    if (found !== undefined || this.#active.has(key)) return found
    this.#active.add(key)
    const value = resolve()
    this.#active.delete(key)
    if (value !== undefined) this.#found.set(key, value)
    return value
  }
}

/** An expression without the types around it. */
export const unwrap = <Node extends { readonly type: string }>(node: Node): Node => {
  const inner = (node as { readonly expression?: Node }).expression
  return typed.has(node.type) && inner !== undefined ? unwrap(inner) : node
}

const typed = new Set(["TSAsExpression", "TSSatisfiesExpression", "TSNonNullExpression", "TSInstantiationExpression"])

/** Modules that layerhost's own modules import by file. */
const layerhostModule = /^\.{1,2}\/(?:.*\/)?Plugins\/(Plugin|HealthCheck|Middleware|Section)\.[jt]s$/

const isLayerhost = (specifier: string): boolean => specifier === "layerhost" || specifier === "layerhost/Plugins"

const isPart = (name: string): boolean => /^(Plugin|HealthCheck|Middleware|Section)$/.test(name)
