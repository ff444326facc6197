/**
 * Finds all that is wrong with a value, as Effect's decoder does where it is to find all errors, but sooner: there it goes
 * through structs and lists in a way that takes several times as long as stopping at the first error.
 *
 * So here structs and lists are gone through by plain loops, and the decoder is given fields and elements one by one. What a
 * struct or list has besides, such as checks of its own, leaves it to the decoder as a whole.
 */
import * as Cause from "effect/Cause"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"
import * as PlainJson from "./PlainJson.ts"

type Path = ReadonlyArray<PropertyKey>

/** Adds what is wrong with a value at a path to the issues; false where that cannot be told without waiting, or at all. */
type Find = (input: unknown, path: Path, issues: Array<SchemaIssue.Issue>) => boolean

/** Makes what lists the issues of a value; they are absent where only the decoder can find them. */
export const make = (
  ast: SchemaAST.AST,
  options: SchemaAST.ParseOptions | undefined
): ((input: unknown) => ReadonlyArray<SchemaIssue.Issue> | undefined) => {
  const find = options?.onExcessProperty === "error" ? () => false : finder(ast, { ...options, errors: "all" })
  return (input) => {
    const issues: Array<SchemaIssue.Issue> = []
    return find(input, [], issues) ? issues : undefined
  }
}

const finder = (ast: SchemaAST.AST, options: SchemaAST.ParseOptions): Find => {
  if (ast.encoding !== undefined || ast.checks !== undefined) return ofWhole(ast, options)
  if (ast._tag === "Objects" && ast.encodingChecks === undefined && ast.indexSignatures.length === 0) {
    return ofStruct(ast, options)
  }
  if (ast._tag === "Arrays" && ast.encodingChecks === undefined && ast.elements.length === 0 && ast.rest.length === 1) {
    return ofList(ast, ast.rest[0]!, options)
  }
  return ofWhole(ast, options)
}

const ofWhole = (ast: SchemaAST.AST, options: SchemaAST.ParseOptions): Find => {
  const isValid = PlainJson.guard(ast)
  const decode = SchemaParser.decodeUnknownEffect(Schema.make<Schema.Codec<unknown>>(ast), options)
  return (input, path, issues) => {
    if (isValid(input)) return true
    const exit = decode(input)
    if (!Exit.isExit(exit)) return false
    if (Exit.isSuccess(exit)) return true
    for (const reason of exit.cause.reasons) {
      if (!Cause.isFailReason(reason) || !SchemaIssue.isIssue(reason.error)) return false
      issues.push(path.length === 0 ? reason.error : new SchemaIssue.Pointer(path, reason.error))
    }
    return true
  }
}

const ofStruct = (ast: SchemaAST.Objects, options: SchemaAST.ParseOptions): Find => {
  const findInOther = ofWhole(ast, options)
  const fields = ast.propertySignatures.map(({ name, type }) => ({
    name,
    find: finder(type, options),
    findMissing: ofWhole(new SchemaAST.Objects([{ name, type }], []), options)
  }))
  return (input, path, issues) => {
    if (typeof input !== "object" || input === null || Array.isArray(input)) return findInOther(input, path, issues)
    const struct = input as Readonly<Record<PropertyKey, unknown>>
    return fields.every(({ find, findMissing, name }) =>
      hasField(struct, name) ? find(struct[name], [...path, name], issues) : findMissing(struct, path, issues)
    )
  }
}

/** As the decoder sees it: what an object inherits counts, but for its prototype itself. */
const hasField = (struct: object, name: PropertyKey): boolean =>
  name === "__proto__" ? Object.hasOwn(struct, name) : name in struct

const ofList = (ast: SchemaAST.Arrays, element: SchemaAST.AST, options: SchemaAST.ParseOptions): Find => {
  const findInOther = ofWhole(ast, options)
  const isValid = PlainJson.guard(element)
  const find = finder(element, options)
  return (input, path, issues) => {
    if (!Array.isArray(input)) return findInOther(input, path, issues)
    for (let index = 0; index < input.length; index++) {
      if (!isValid(input[index]) && !find(input[index], [...path, index], issues)) return false
    }
    return true
  }
}
