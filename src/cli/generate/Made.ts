/** Which values are plugins, health checks, middleware and configuration sections: those that layerhost's functions make. */
import type { CallExpression, Class, Expression, Function as FunctionNode } from "oxc-parser"
import { type Resolver, unwrap } from "./Resolver.ts"
import type { SourceModule } from "./SourceModule.ts"

/** What can be made. */
export type Kind = "plugin" | "healthCheck" | "middleware" | "section"

/** The functions, by their names in `layerhost` and `layerhost/Plugins`, whatever the importing module calls them. */
const makers: Readonly<Record<string, Kind>> = {
  "Plugin make": "plugin",
  "HealthCheck make": "healthCheck",
  "Middleware make": "middleware",
  "Section Service": "section"
}

/** Something that was made, and where. */
export interface Made {
  readonly kind: Kind
  /** The plugin's id, the name of a check or middleware, the path of a section; `undefined` where it is not a literal. */
  readonly id: string | undefined
  readonly file: string
  readonly offset: number
  readonly line: number
  readonly module: SourceModule
  readonly call: CallExpression
}

/** What an expression, a class or a name stands for, if it was made by layerhost. */
export const of = (
  resolver: Resolver,
  module: SourceModule,
  expression: Expression | Class | FunctionNode
): Made | undefined => {
  const value = resolver.expression(module, expression)
  return value?._tag === "Node" ? byNode(resolver, value.module, value.node) : undefined
}

/** The same of something that a module exports. */
export const ofExport = (resolver: Resolver, module: SourceModule, name: string): Made | undefined => {
  const value = resolver.export(module, name)
  return value?._tag === "Node" ? byNode(resolver, value.module, value.node) : undefined
}

const byNode = (
  resolver: Resolver,
  module: SourceModule,
  node: Expression | Class | FunctionNode
): Made | undefined => {
  const base = node.type === "ClassDeclaration" || node.type === "ClassExpression" ? node.superClass : node
  const call = base && unwrap(base)
  if (call?.type !== "CallExpression") return undefined
  const kind = makerOf(resolver, module, call)
  if (kind === undefined) return undefined
  const id = kind === "section" ? call.arguments[0] : optionOf(call, kind === "plugin" ? "id" : "name")
  return {
    kind,
    id: id === undefined || id.type === "SpreadElement" ? undefined : textOf(resolver, module, id),
    file: module.file,
    offset: call.start,
    line: module.lineAt(node.start),
    module,
    call
  }
}

/** What a call makes. A section is made by what `Section.Service<Self>()` gives. */
const makerOf = (resolver: Resolver, module: SourceModule, { callee }: CallExpression): Kind | undefined => {
  const inner = unwrap(callee)
  const isNested = inner.type === "CallExpression"
  const value = resolver.expression(module, isNested ? inner.callee : inner)
  if (value?._tag !== "External") return undefined
  const [specifier, ...names] = value.path
  if (specifier !== "layerhost" && specifier !== "layerhost/Plugins") return undefined
  const path = names.join(" ")
  const kind = Object.hasOwn(makers, path) ? makers[path] : undefined
  return isNested === (kind === "section") ? kind : undefined
}

/** The value of an option, where the options stand in the call. */
export const optionOf = (call: CallExpression, name: string): Expression | undefined => {
  const [options] = call.arguments
  if (options?.type !== "ObjectExpression") return undefined
  for (const property of options.properties) {
    if (property.type !== "Property" || property.computed || property.key.type !== "Identifier") continue
    if (property.key.name === name) return property.value
  }
  return undefined
}

const textOf = (resolver: Resolver, module: SourceModule, expression: Expression): string | undefined => {
  const value = resolver.expression(module, expression)
  if (value?._tag !== "Node") return undefined
  const { node } = value
  if (node.type === "Literal" && typeof node.value === "string") return node.value
  const isPlain = node.type === "TemplateLiteral" && node.expressions.length === 0
  return isPlain ? (node.quasis[0]?.value.cooked ?? undefined) : undefined
}
