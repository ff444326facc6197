/** Which health checks, middleware and sections the plugins of a service list: those do not stand alone. */
import { Visitor, type CallExpression } from "oxc-parser"
import * as Made from "./Made.ts"
import type { Resolver } from "./Resolver.ts"
import type { SourceModule } from "./SourceModule.ts"

/** Where something was made: the same for every name that it has. */
export const placeOf = ({ file, offset }: { readonly file: string; readonly offset: number }): string =>
  `${file} ${offset}`

const options = { config: "section", healthChecks: "healthCheck", middleware: "middleware" } as const

/** The places of the parts that the plugins in these modules list, by way of whatever values and functions. */
export const find = (resolver: Resolver, modules: Iterable<SourceModule>): ReadonlySet<string> => {
  const listed = new Set<string>()
  for (const module of modules) {
    const calls: Array<CallExpression> = []
    new Visitor({ CallExpression: (call) => void calls.push(call) }).visit(module.program)
    for (const call of calls) {
      if (Made.of(resolver, module, call)?.kind !== "plugin") continue
      for (const [name, kind] of Object.entries(options)) {
        const value = isPlain(call) ? Made.optionOf(call, name) : call.arguments[0]
        if (value === undefined) continue
        new Walk(resolver, kind, listed).from(module, value)
      }
    }
  }
  return listed
}

/** Whether the options stand in the call one by one. */
const isPlain = ({ arguments: [argument] }: CallExpression): boolean =>
  argument?.type === "ObjectExpression" && argument.properties.every(({ type }) => type === "Property")

/** Goes through an expression and everything that its names stand for. */
class Walk {
  readonly #resolver: Resolver
  readonly #kind: Made.Kind
  readonly #listed: Set<string>
  readonly #seen = new Set<unknown>()

  constructor(resolver: Resolver, kind: Made.Kind, listed: Set<string>) {
    this.#resolver = resolver
    this.#kind = kind
    this.#listed = listed
  }

  from(module: SourceModule, node: unknown): void {
    if (Array.isArray(node)) {
      for (const each of node) this.from(module, each)
      return
    }
    if (!isNode(node) || this.#seen.has(node)) return
    this.#seen.add(node)
    if (node.type === "Identifier" || node.type === "MemberExpression") {
      const value = this.#resolver.expression(module, node as never)
      if (value?._tag === "Node" && value.node !== node) return this.from(value.module, value.node)
    }
    const made = isMade.has(node.type) ? Made.of(this.#resolver, module, node as never) : undefined
    if (made?.kind === this.#kind) this.#listed.add(placeOf(made))
    // What a part is made of, and what the methods of a class do, lists nothing.
    if (made !== undefined || node.type.startsWith("Class")) return
    for (const [key, child] of Object.entries(node)) {
      if (typeof child === "object" && !isName(node, key) && !types.has(key)) this.from(module, child)
    }
  }
}

interface Node {
  readonly type: string
  readonly computed?: boolean
}

const isNode = (value: unknown): value is Node => typeof value === "object" && value !== null && "type" in value

const isMade = new Set(["CallExpression", "ClassDeclaration", "ClassExpression"])

/** Names of properties and members stand for nothing in the module. */
const isName = ({ computed, type }: Node, key: string): boolean =>
  computed !== true && ((type === "Property" && key === "key") || (type === "MemberExpression" && key === "property"))

const types = new Set(["typeAnnotation", "typeArguments", "typeParameters", "returnType", "superTypeArguments"])
