/** What the text of one module says of its names: which it declares, imports and exports. The text is parsed, never run. */
import {
  parseSync,
  type Class,
  type Expression,
  type Function as FunctionNode,
  type ImportDeclarationSpecifier,
  type ModuleExportName,
  type Program,
  type Statement
} from "oxc-parser"
import * as GenerateError from "./GenerateError.ts"
import type { PackageJson } from "./PackageJson.ts"

/** What a name stands for: an export of another module, or (`imported` is `undefined`) that module itself. */
export interface Import {
  readonly specifier: string
  readonly imported: string | undefined
  readonly line: number
}

/** A value that a module declares at its top level, or one member of it: `const { make } = Plugin`. */
export interface Local {
  readonly node: Expression | Class | FunctionNode
  readonly member: string | undefined
}

/** A module's names. */
export interface SourceModule {
  readonly file: string
  /** The package that the module belongs to. */
  readonly package: PackageJson
  readonly program: Program
  readonly imports: ReadonlyMap<string, Import>
  readonly locals: ReadonlyMap<string, Local>
  /** By the exported name: a name of the module, an expression (of a default export), or an export of another module. */
  readonly exports: ReadonlyMap<string, string | Local | Import>
  /** `export * from`. */
  readonly stars: ReadonlyArray<Pick<Import, "specifier" | "line">>
  readonly lineAt: (offset: number) => number
}

/** Parses a module; the errors of its syntax are one error. */
export const parse = (file: string, text: string, owner: PackageJson): SourceModule | GenerateError.GenerateError => {
  const { program, errors } = parseSync(file, text, { sourceType: "module", preserveParens: false })
  const lineAt = (offset: number) => GenerateError.lineAt(text, offset)
  const syntaxErrors = errors.filter((error) => error.severity === "Error")
  if (syntaxErrors.length > 0) {
    return GenerateError.merge(
      syntaxErrors.map((error) =>
        GenerateError.at(file, lineAt(error.labels[0]?.start ?? 0), `syntax error: ${error.message}`)
      )
    )
  }
  const imports = new Map<string, Import>()
  const locals = new Map<string, Local>()
  const exports = new Map<string, string | Local | Import>()
  const stars: Array<Pick<Import, "specifier" | "line">> = []

  for (const statement of program.body) {
    for (const [name, local] of localsOf(statement)) locals.set(name, local)
    if (statement.type === "ImportDeclaration" && statement.importKind !== "type") {
      const specifier = statement.source.value
      for (const it of statement.specifiers) {
        imports.set(it.local.name, { specifier, imported: importedBy(it), line: lineAt(statement.start) })
      }
    } else if (statement.type === "ExportNamedDeclaration" && statement.exportKind !== "type") {
      for (const [name] of localsOf(statement)) exports.set(name, name)
      for (const { local, exported, exportKind } of statement.specifiers) {
        if (exportKind === "type") continue
        const imported = nameOf(local)
        const specifier = statement.source?.value
        const line = lineAt(statement.start)
        exports.set(nameOf(exported), specifier === undefined ? imported : { specifier, imported, line })
      }
    } else if (statement.type === "ExportDefaultDeclaration") {
      const { declaration } = statement
      if (isValue(declaration)) exports.set("default", { node: declaration, member: undefined })
    } else if (statement.type === "ExportAllDeclaration" && statement.exportKind !== "type") {
      const from = { specifier: statement.source.value, line: lineAt(statement.start) }
      if (statement.exported === null) stars.push(from)
      else exports.set(nameOf(statement.exported), { ...from, imported: undefined })
    }
  }
  return { file, package: owner, program, imports, locals, exports, stars, lineAt }
}

/** The values, by name, that a top-level statement declares. */
const localsOf = (statement: Statement | Program["body"][number]): ReadonlyArray<readonly [string, Local]> => {
  const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : statement
  if (declaration?.type === "ClassDeclaration" || declaration?.type === "FunctionDeclaration") {
    return declaration.id === null ? [] : [[declaration.id.name, { node: declaration, member: undefined }]]
  }
  if (declaration?.type !== "VariableDeclaration") return []
  return declaration.declarations.flatMap(({ id, init: node }): ReadonlyArray<readonly [string, Local]> => {
    if (node === null) return []
    if (id.type === "Identifier") return [[id.name, { node, member: undefined }]]
    if (id.type !== "ObjectPattern") return []
    return id.properties.flatMap((property) =>
      property.type === "Property" &&
      !property.computed &&
      property.key.type === "Identifier" &&
      property.value.type === "Identifier"
        ? [[property.value.name, { node, member: property.key.name }] as const]
        : []
    )
  })
}

/** Whether what is exported by default is there at run time. */
const isValue = (declaration: { readonly type: string }): declaration is Expression | Class | FunctionNode =>
  !declaration.type.startsWith("TS") ||
  declaration.type === "TSAsExpression" ||
  declaration.type === "TSSatisfiesExpression"

const importedBy = (specifier: ImportDeclarationSpecifier): string | undefined => {
  if (specifier.type === "ImportNamespaceSpecifier") return undefined
  return specifier.type === "ImportSpecifier" ? nameOf(specifier.imported) : "default"
}

/** The text of a name in an import or export, which may be written as a string. */
const nameOf = (name: ModuleExportName): string => ("name" in name ? name.name : name.value)
