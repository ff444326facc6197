/** What one module exports, as far as plugins go. The text is parsed, never run. */
import * as Effect from "effect/Effect"
import { FileSystem } from "effect/FileSystem"
import { parseSync, type CallExpression, type Expression, type Program, type Statement } from "oxc-parser"
import * as GenerateError from "./GenerateError.ts"
import * as PluginMake from "./PluginMake.ts"

/** The call that makes a plugin. */
export interface MadePlugin {
  /** The plugin's id, where it is a literal. */
  readonly id: string | undefined
  readonly file: string
  readonly offset: number
  readonly line: number
}

/** A plugin under the name that a module exports it by. */
export interface Export {
  readonly name: string
  readonly plugin: MadePlugin
}

/** What a module exports of another module's exports: all of them, or some, each perhaps under a new name. */
export interface ReExport {
  readonly specifier: string
  readonly names: "all" | ReadonlyArray<{ readonly imported: string; readonly exported: string }>
  readonly line: number
}

/** A module's own plugins, and where it may have others from. */
export interface PluginModule {
  readonly exports: ReadonlyArray<Export>
  readonly reExports: ReadonlyArray<ReExport>
}

/** Reads and parses a module of the named package. */
export const read = Effect.fnUntraced(function* (file: string, packageName: string | undefined) {
  const text = yield* Effect.flatMap(FileSystem, (fs) => fs.readFileString(file))
  const { program, errors } = parseSync(file, text, { sourceType: "module", preserveParens: false })
  const syntaxErrors = errors.filter((error) => error.severity === "Error")
  if (syntaxErrors.length > 0) {
    const problems = syntaxErrors.map((error) =>
      GenerateError.at(file, GenerateError.lineAt(text, error.labels[0]?.start ?? 0), `syntax error: ${error.message}`)
    )
    return yield* GenerateError.merge(problems)
  }
  return analyze(program, file, packageName, (offset) => GenerateError.lineAt(text, offset))
})

const analyze = (
  program: Program,
  file: string,
  packageName: string | undefined,
  lineAt: (offset: number) => number
): PluginModule => {
  const imports = PluginMake.importsOf(program)
  const made = new Map<string, CallExpression>()
  const exports: Array<Export> = []
  const reExports: Array<ReExport> = []

  const pluginOf = (expression: Expression): CallExpression | undefined => {
    const inner = PluginMake.unwrap(expression)
    if (inner.type === "Identifier") return made.get(inner.name)
    return inner.type === "CallExpression" && PluginMake.isCallee(inner.callee, imports, packageName)
      ? inner
      : undefined
  }
  const addPlugin = (name: string, call: CallExpression) => {
    const plugin = { id: PluginMake.idOf(call), file, offset: call.start, line: lineAt(call.start) }
    exports.push({ name, plugin })
  }
  /** `export { local as exported }` and `export default local`. */
  const addName = (local: string, exported: string, offset: number) => {
    const call = made.get(local)
    const origin = imports.get(local)
    if (call !== undefined) addPlugin(exported, call)
    else if (origin?.imported !== undefined) {
      const names = [{ imported: origin.imported, exported }]
      reExports.push({ specifier: origin.specifier, names, line: lineAt(offset) })
    }
  }

  // A name may be exported above the line that makes it, so what is made is known first.
  for (const [name, value] of program.body.flatMap(variablesOf)) {
    const call = pluginOf(value)
    if (call !== undefined) made.set(name, call)
  }

  for (const statement of program.body) {
    if (statement.type === "ExportNamedDeclaration" && statement.exportKind !== "type") {
      for (const [name] of variablesOf(statement)) addName(name, name, statement.start)
      const names = statement.specifiers
        .filter(({ exportKind }) => exportKind !== "type")
        .map(({ local, exported }) => ({ imported: PluginMake.nameOf(local), exported: PluginMake.nameOf(exported) }))
      if (statement.source === null) {
        for (const { imported, exported } of names) addName(imported, exported, statement.start)
      } else if (names.length > 0) {
        reExports.push({ specifier: statement.source.value, names, line: lineAt(statement.start) })
      }
    } else if (statement.type === "ExportDefaultDeclaration") {
      const { declaration } = statement
      if (declaration.type === "Identifier") addName(declaration.name, "default", statement.start)
      else {
        const call = pluginOf(declaration as Expression)
        if (call !== undefined) addPlugin("default", call)
      }
    } else if (
      statement.type === "ExportAllDeclaration" &&
      statement.exported === null &&
      statement.exportKind !== "type"
    ) {
      reExports.push({ specifier: statement.source.value, names: "all", line: lineAt(statement.start) })
    }
  }
  return { exports, reExports }
}

/** The variables, with their values, that a top-level statement declares. */
const variablesOf = (statement: Statement | Program["body"][number]): ReadonlyArray<readonly [string, Expression]> => {
  const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement
  if (declaration?.type !== "VariableDeclaration") return []
  return declaration.declarations.flatMap(({ id, init }) =>
    id.type === "Identifier" && init !== null ? [[id.name, init] as const] : []
  )
}
