/**
 * Decoding and encoding of JSON without what hardly any value needs.
 *
 * In JSON, `Schema.Number` takes the texts `"NaN"` and `"Infinity"`, too, and `Schema.optional` takes `null` for `undefined`.
 * These transformations make Effect go through all that they are in without compiled functions. A schema for finite numbers,
 * and for optional values that are there or not, does without, and leaves what it takes as it is. So that is tried first, and
 * what it does not take is left to the schema itself.
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
  const isValid = SchemaParser.is(codecOf(plainOf(ast)))
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
  if (!isPlain || !isTransformed(ast) || options?.disableChecks) return parse
  const parsePlain = SchemaParser.decodeUnknownEffect(codecOf(plainOf(ast)), options)
  return (input) => {
    const exit = parsePlain(input)
    return Exit.isExit(exit) && Exit.isSuccess(exit) ? exit : parse(input)
  }
}

const codecOf = (ast: SchemaAST.AST) => Schema.make<Schema.Codec<unknown>>(ast)

/** How JSON has what it has no word for: numbers that are not finite, and `undefined`. */
const transformationOf = (schema: Schema.Constraint) => Schema.toCodecJson(schema).ast.encoding?.[0]!.transformation
const ofNumber = transformationOf(Schema.Number)
const ofUndefined = transformationOf(Schema.Undefined)

/** `Schema.Number` as it stands in schemas of JSON. */
const isNumber = ({ _tag, encoding }: SchemaAST.AST): boolean =>
  _tag === "Number" && encoding?.length === 1 && encoding[0]!.transformation === ofNumber

/** `Schema.Undefined` as it stands there. */
const isUndefined = ({ _tag, encoding }: SchemaAST.AST): boolean =>
  _tag === "Undefined" && encoding?.length === 1 && encoding[0]!.transformation === ofUndefined

const hasNumber = (ast: SchemaAST.AST): boolean => isNumber(ast) || partsOf(ast).some(hasNumber)

const isTransformed = (ast: SchemaAST.AST): boolean =>
  isNumber(ast) || isUndefined(ast) || partsOf(ast).some(isTransformed)

const hasChecks = (ast: SchemaAST.AST): boolean => {
  const parts = partsOf(ast)
  return parts.length > 0 && (ast.checks !== undefined || parts.some(hasChecks))
}

/**
 * Whether nothing else is encoded in another way, and nothing else takes the texts that numbers may be, or `null` where that
 * may be `undefined`.
 */
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
    case "Union": {
      const types = ast.types.filter((type) => !isUndefined(type))
      const others = types.filter(({ _tag }) => _tag !== "Null")
      return (
        ast.encodingChecks === undefined &&
        types.every(isPlain) &&
        (others.length === 1 || !types.some(hasNumber)) &&
        (types.length === ast.types.length || !types.some(takesNull))
      )
    }
    default:
      return false
  }
}

const takesNull = (ast: SchemaAST.AST): boolean =>
  ast._tag === "Null" || (ast._tag === "Union" && ast.types.some(takesNull))

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

/** The same schema, for finite numbers alone, and without `undefined`. */
const plainOf = (ast: SchemaAST.AST): SchemaAST.AST => {
  const { annotations, checks, context } = ast
  switch (ast._tag) {
    case "Number":
      return isNumber(ast)
        ? new SchemaAST.Number(annotations, [Schema.isFinite(), ...(checks ?? [])], undefined, context)
        : ast
    case "Arrays": {
      const elements = ast.elements.map(plainOf)
      const rest = ast.rest.map(plainOf)
      return new SchemaAST.Arrays(ast.isMutable, elements, rest, annotations, checks, undefined, context)
    }
    case "Objects": {
      const fields = ast.propertySignatures.map(({ name, type }) => ({ name, type: plainOf(type) }))
      return new SchemaAST.Objects(fields, [], annotations, checks, undefined, context)
    }
    case "Union": {
      const types = ast.types.filter((type) => !isUndefined(type)).map(plainOf)
      return new SchemaAST.Union(types, ast.options, annotations, checks, undefined, context)
    }
    default:
      return ast
  }
}
