/** Every error that the entries of the package export, by what its documentation says. */
import { globSync, readFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { parseSync } from "oxc-parser"
import packageJson from "../../package.json" with { type: "json" }
import { code, firstSentence, table } from "./markdown.ts"

const root = resolve(import.meta.dirname, "../..")

type ErrorClass = (new (...args: never) => Error) & { readonly fields?: Readonly<Record<string, unknown>> }

const isErrorClass = (value: unknown): value is ErrorClass =>
  typeof value === "function" && (value.prototype as unknown) instanceof Error

/** The error classes of a module, and of the modules that it exports by name. */
const errorsOf = (exports: object, depth = 1): ReadonlyArray<ErrorClass> =>
  Object.values(exports).flatMap((value) =>
    isErrorClass(value)
      ? [value]
      : depth > 0 && typeof value === "object" && value !== null && value[Symbol.toStringTag] === "Module"
        ? errorsOf(value, depth - 1)
        : []
  )

/** The first sentences of the documentation of all exported classes, by their names. */
const documented = (): ReadonlyMap<string, string> => {
  const found = new Map<string, string>()
  for (const file of globSync("src/{Host,Plugins,SecretStore,testing}/**/*.ts", { cwd: root }).toSorted()) {
    const text = readFileSync(join(root, file), "utf8")
    const { comments, program } = parseSync(file, text)
    for (const statement of program.body) {
      if (statement.type !== "ExportNamedDeclaration" || statement.declaration?.type !== "ClassDeclaration") continue
      const comment = comments.findLast(
        ({ end, value }) =>
          end <= statement.start && value.startsWith("*") && text.slice(end, statement.start).trim() === ""
      )
      if (comment !== undefined) found.set(statement.declaration.id!.name, firstSentence(comment.value))
    }
  }
  return found
}

/** One table: each error with the entries that export it. */
export const errors = async (): Promise<string> => {
  const meanings = documented()
  const entries = new Map<ErrorClass, Array<string>>()
  for (const [name, file] of Object.entries(packageJson.exports)) {
    if (!file.endsWith(".ts")) continue
    const exports = (await import(join(root, file))) as object
    for (const error of new Set(errorsOf(exports))) {
      entries.set(error, [...(entries.get(error) ?? []), name.replace(/^\./, "layerhost")])
    }
  }
  const rows = [...entries]
    .toSorted(([a], [b]) => (a.name < b.name ? -1 : 1))
    .map(([error, from]) => {
      const meaning = meanings.get(error.name)
      if (meaning === undefined) throw new Error(`${error.name} has no documentation that begins with a sentence`)
      const fields = Object.keys(error.fields ?? {}).filter((field) => field !== "_tag")
      return [code(error.name), meaning, fields.map(code).join(", "), from.map(code).join(", ")]
    })
  return table(["error", "meaning", "fields", "of"], rows)
}
