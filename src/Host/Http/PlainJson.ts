/**
 * Decoding and encoding of JSON without what hardly any value needs.
 *
 * In JSON, `Schema.Number` takes the texts `"NaN"` and `"Infinity"`, too. That alone makes Effect go through a transformation
 * for each number, and through all that numbers are in without compiled functions. A schema for finite numbers does without,
 * and leaves what it takes as it is. So that is tried first, and what it does not take is left to the schema itself.
 */
import type * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import type * as SchemaIssue from "effect/SchemaIssue"
import * as SchemaParser from "effect/SchemaParser"

/** Decodes or encodes a value; it is done at once, unless a schema has to wait. */
export type Parse = (input: unknown) => Effect.Effect<unknown, SchemaIssue.Issue>

/** Makes what decodes JSON values. */
export const decoder = (ast: SchemaAST.AST, options: SchemaAST.ParseOptions | undefined): Parse =>
  plainFirst(SchemaParser.decodeUnknownEffect(codecOf(ast), options), ast, options, isPlain(ast))

/**
 * Makes what encodes values as JSON values. Checks of what has parts see the value itself here, and not what is taken of it;
 * where there are some, the schema is not tried without transformations.
 */
export const encoder = (ast: SchemaAST.AST, options: SchemaAST.ParseOptions | undefined): Parse =>
  plainFirst(SchemaParser.encodeUnknownEffect(codecOf(ast), options), ast, options, isPlain(ast) && !hasChecks(ast))

/** Makes what tells at a glance of most values that they decode. */
export const guard = (ast: SchemaAST.AST): ((input: unknown) => boolean) => {
  if (!isPlain(ast)) return () => false
  const isValid = SchemaParser.is(codecOf(withFiniteNumbers(ast)))
  return (input) => {
    try {
      return isValid(input)
    } catch {
      return false
    }
  }
}

const plainFirst = (
  parse: Parse,
  ast: SchemaAST.AST,
  options: SchemaAST.ParseOptions | undefined,
  isPlain: boolean
): Parse => {
  // That a number is finite is a check itself.
  if (!isPlain || !hasNumber(ast) || options?.disableChecks) return parse
  const parsePlain = SchemaParser.decodeUnknownEffect(codecOf(withFiniteNumbers(ast)), options)
  return (input) => {
    const exit = parsePlain(input)
    return Exit.isExit(exit) && Exit.isSuccess(exit) ? exit : parse(input)
  }
}

const codecOf = (ast: SchemaAST.AST) => Schema.make<Schema.Codec<unknown>>(ast)

/** `Schema.Number` as it stands in schemas of JSON. */
const isNumber = ({ _tag, encoding }: SchemaAST.AST): boolean =>
  _tag === "Number" && encoding?.length === 1 && encoding[0]!.transformation === numberInJson

const numberInJson = Schema.toCodecJson(Schema.Number).ast.encoding?.[0]!.transformation

const hasNumber = (ast: SchemaAST.AST): boolean => isNumber(ast) || partsOf(ast).some(hasNumber)

const hasChecks = (ast: SchemaAST.AST): boolean => {
  const parts = partsOf(ast)
  return parts.length > 0 && (ast.checks !== undefined || parts.some(hasChecks))
}

/** Whether numbers are all that could be encoded in another way, and nothing else takes the texts that they may be. */
const isPlain = (ast: SchemaAST.AST): boolean => {
  if (isNumber(ast)) return true
  if (ast.encoding !== undefined) return false
  switch (ast._tag) {
    case "String":
    case "Number":
    case "Boolean":
    case "Null":
    case "Literal":
    case "Enum":
      return true
    case "Arrays":
      return ast.encodingChecks === undefined && partsOf(ast).every(isPlain)
    case "Objects":
      return ast.encodingChecks === undefined && ast.indexSignatures.length === 0 && partsOf(ast).every(isPlain)
    case "Union":
      return (
        ast.encodingChecks === undefined &&
        ast.types.every(isPlain) &&
        (!ast.types.some(hasNumber) || ast.types.filter(({ _tag }) => _tag !== "Null").length === 1)
      )
    default:
      return false
  }
}

const partsOf = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.AST> => {
  switch (ast._tag) {
    case "Arrays":
      return [...ast.elements, ...ast.rest]
    case "Objects":
      return ast.propertySignatures.map(({ type }) => type)
    case "Union":
      return ast.types
    default:
      return []
  }
}

/** The same schema, for finite numbers alone. */
const withFiniteNumbers = (ast: SchemaAST.AST): SchemaAST.AST => {
  const { annotations, checks, context } = ast
  switch (ast._tag) {
    case "Number":
      return isNumber(ast)
        ? new SchemaAST.Number(annotations, [Schema.isFinite(), ...(checks ?? [])], undefined, context)
        : ast
    case "Arrays": {
      const elements = ast.elements.map(withFiniteNumbers)
      const rest = ast.rest.map(withFiniteNumbers)
      return new SchemaAST.Arrays(ast.isMutable, elements, rest, annotations, checks, undefined, context)
    }
    case "Objects": {
      const fields = ast.propertySignatures.map(({ name, type }) => ({ name, type: withFiniteNumbers(type) }))
      return new SchemaAST.Objects(fields, [], annotations, checks, undefined, context)
    }
    case "Union": {
      const types = ast.types.map(withFiniteNumbers)
      return new SchemaAST.Union(types, ast.options, annotations, checks, undefined, context)
    }
    default:
      return ast
  }
}
