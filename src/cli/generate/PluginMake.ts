/**
 * Which calls make a plugin: those of `Plugin.make`, where `Plugin` comes from `layerhost` or `layerhost/Plugins`, whatever
 * the importing module calls it.
 */
import type { CallExpression, Expression, ImportDeclarationSpecifier, ModuleExportName, Program } from "oxc-parser"

/** What a local name of an import stands for: an export of a module, or (`undefined`) the module itself. */
export interface Import {
  readonly specifier: string
  readonly imported: string | undefined
}

/** A module's imports by their local names. */
export const importsOf = (program: Program): ReadonlyMap<string, Import> =>
  new Map(
    program.body
      .filter((statement) => statement.type === "ImportDeclaration")
      .flatMap(({ source, specifiers }) =>
        specifiers.map((it) => [it.local.name, { specifier: source.value, imported: importedBy(it) }] as const)
      )
  )

const importedBy = (specifier: ImportDeclarationSpecifier): string | undefined => {
  if (specifier.type === "ImportNamespaceSpecifier") return undefined
  return specifier.type === "ImportSpecifier" ? nameOf(specifier.imported) : "default"
}

/** The text of a name in an import or export, which may be written as a string. */
export const nameOf = (name: ModuleExportName): string => ("name" in name ? name.name : name.value)

/** An expression without the types around it. */
export const unwrap = (expression: Expression): Expression =>
  expression.type === "TSAsExpression" || expression.type === "TSSatisfiesExpression"
    ? unwrap(expression.expression)
    : expression

/** Whether a callee is layerhost's `Plugin.make`, by the way its name came into the module. */
export const isCallee = (
  callee: Expression,
  imports: ReadonlyMap<string, Import>,
  packageName: string | undefined
): boolean => {
  const [root, ...members] = dotted(callee)
  const origin = root === undefined ? undefined : imports.get(root)
  if (origin === undefined) return false
  const path = [moduleOf(origin.specifier, packageName), origin.imported, ...members]
  return acceptedPaths.has(path.filter((part) => part !== undefined).join(" "))
}

const acceptedPaths = new Set([
  "layerhost Plugin make",
  "layerhost Plugins Plugin make",
  "layerhost/Plugins Plugin make",
  "layerhost/Plugins/Plugin make"
])

/** layerhost's own modules import each other by file. */
const moduleOf = (specifier: string, packageName: string | undefined): string =>
  packageName === "layerhost" && /^\.{1,2}\/(.*\/)?Plugins\/Plugin\.[jt]s$/.test(specifier)
    ? "layerhost/Plugins/Plugin"
    : specifier

/** `a.b.c` as its names; nothing for any other expression. */
const dotted = (expression: Expression): ReadonlyArray<string> => {
  if (expression.type === "Identifier") return [expression.name]
  if (expression.type !== "MemberExpression" || expression.computed) return []
  const object = dotted(expression.object)
  return object.length === 0 ? [] : [...object, expression.property.name]
}

/** The literal `id` among the options of a `Plugin.make` call. */
export const idOf = (call: CallExpression): string | undefined => {
  const [options] = call.arguments
  if (options?.type !== "ObjectExpression") return undefined
  for (const property of options.properties) {
    if (property.type !== "Property" || property.computed) continue
    const key = property.key.type === "Identifier" ? property.key.name : undefined
    if (key !== "id") continue
    const value = unwrap(property.value)
    return value.type === "Literal" && typeof value.value === "string" ? value.value : undefined
  }
  return undefined
}
