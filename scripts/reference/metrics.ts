/** Every metric that the sources make: found where they make it, or in the registry where its name is put together. */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { globSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { parseSync, Visitor, type ObjectExpression } from "oxc-parser"
import * as RuntimeMetrics from "../../src/Host/Telemetry/RuntimeMetrics.ts"
import { code, table } from "./markdown.ts"

const root = resolve(import.meta.dirname, "../..")

interface Found {
  readonly name: string
  readonly kind: string
  readonly description: string
  readonly unit: string
}

/** The texts of an object of the source, also those of `attributes` in it. */
const textsOf = (object: ObjectExpression): Readonly<Record<string, string>> => {
  const texts: Record<string, string> = {}
  for (const property of object.properties) {
    if (property.type !== "Property" || property.key.type !== "Identifier") continue
    const { value } = property
    if (value.type === "Literal" && typeof value.value === "string") texts[property.key.name] = value.value
    if (value.type === "ObjectExpression" && property.key.name === "attributes") Object.assign(texts, textsOf(value))
  }
  return texts
}

const registered = Effect.scoped(Effect.andThen(RuntimeMetrics.collect, Metric.snapshot)).pipe(
  Effect.provideService(Metric.MetricRegistry, new Map())
)

/** One table of all metrics, by name. */
export const metrics = async (): Promise<string> => {
  const found = new Map<string, Found>()
  const note = (name: string, kind: string, texts: Readonly<Record<string, string>>) =>
    found.set(name, { name, kind, description: texts["description"]!, unit: texts["unit"] ?? "" })
  for (const file of globSync("src/{Host,Plugins,SecretStore}/**/*.ts", { cwd: root }).toSorted()) {
    const { program } = parseSync(file, readFileSync(join(root, file), "utf8"))
    new Visitor({
      // Metric.counter("name", { description, attributes }), and the same of Series
      CallExpression: ({ arguments: [name, options], callee }) => {
        if (callee.type !== "MemberExpression" || callee.object.type !== "Identifier") return
        if (!["Metric", "Series"].includes(callee.object.name) || callee.property.type !== "Identifier") return
        if (name?.type !== "Literal" || typeof name.value !== "string" || options?.type !== "ObjectExpression") return
        note(name.value, callee.property.name, textsOf(options))
      },
      // { name, description, unit, kind, read }, which Observed.register takes
      ObjectExpression: (object) => {
        const texts = textsOf(object)
        const { description, kind, name } = texts
        if (name !== undefined && kind !== undefined && description !== undefined) note(name, kind, texts)
      }
    }).visit(program)
  }
  for (const { attributes, description, id, type } of await Effect.runPromise(registered)) {
    const texts = { description: description ?? "", unit: String(attributes?.["unit"] ?? "") }
    if (!found.has(id)) note(id, type.toLowerCase(), texts)
  }
  return table(
    ["metric", "kind", "unit", "meaning"],
    [...found.values()]
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ description, kind, name, unit }) => [code(name), kind, unit === "" ? "" : code(unit), description])
  )
}
