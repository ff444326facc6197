/** What `layerhost config` does. Loaded only when it is asked for. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { existsSync } from "node:fs"
import * as EffectiveValues from "../../Host/Configuration/EffectiveValues.ts"
import * as Explanation from "../../Host/Configuration/Explanation.ts"
import * as JsonSchema from "../../Host/Configuration/JsonSchema.ts"
import { CommandError, Refused } from "../CommandError.ts"
import * as render from "./render.ts"
import * as Service from "./Service.ts"

/** A command whose answer may also be JSON. */
export interface Options extends Service.ServiceOptions {
  readonly json: boolean
}

const read = Effect.fnUntraced(function* ({ operands, plugins }: Service.ServiceOptions) {
  const { args, directory } = yield* Service.place(operands)
  const sections = yield* Service.sections(directory, plugins)
  return { sections, ...(yield* Service.configuration(directory, args, sections)) }
})

const count = (number: number, what: string): string => `${number} ${what}${number === 1 ? "" : "s"}`

const print = (value: unknown): Effect.Effect<void> => Console.log(JSON.stringify(value, undefined, 2))

/** Prints every key with its value and its source. */
export const list = Effect.fnUntraced(function* (options: Options) {
  const { decoded, sections, tree } = yield* read(options)
  const values = EffectiveValues.list(tree, sections)
  yield* options.json ? print(values) : Console.log(render.values(values))
  if (Result.isFailure(decoded)) {
    const errors = count(decoded.failure.problems.length, "configuration error")
    yield* Console.error(`${errors}: see \`layerhost config check\``)
  }
})

/** Prints everything that sets a key. */
export const explain = Effect.fnUntraced(function* (key: string, options: Options) {
  const [directory] = options.operands
  if (directory?.includes(":") && existsSync(key)) {
    return yield* new CommandError({
      message: `The key stands before the directory: layerhost config explain ${directory} ${key}`
    })
  }
  const { sections, tree } = yield* read(options)
  const about = Explanation.explain(tree, sections, key)
  if (about.plugin === null && about.sources.length === 0) {
    const hint =
      about.suggestion === null ? "`layerhost config list` prints every key" : `did you mean ${about.suggestion}?`
    return yield* new CommandError({ message: `No section has the key ${key}, and nothing sets it; ${hint}` })
  }
  yield* options.json ? print(about) : Console.log(render.explanation(about))
})

/** Prints the JSON Schema of all sections. */
export const schema = Effect.fnUntraced(function* ({ operands, plugins }: Service.ServiceOptions) {
  const { directory } = yield* Service.place(operands)
  yield* print(JsonSchema.make(yield* Service.sections(directory, plugins)))
})

/** Tells whether the service could start with its configuration; status 1 and the whole report where it could not. */
export const check = Effect.fnUntraced(function* (options: Options) {
  const { decoded, sections, tree } = yield* read(options)
  const problems = Result.isFailure(decoded) ? decoded.failure.problems : []
  const { warnings } = Result.isFailure(decoded) ? decoded.failure : decoded.success
  const isValid = problems.length === 0
  if (options.json) yield* print({ valid: isValid, problems, warnings })
  else if (Result.isFailure(decoded)) yield* Console.error(decoded.failure.message)
  else {
    yield* Effect.forEach(warnings, (warning) => Console.error(`warning: ${warning}`))
    yield* Console.log(
      `The configuration is valid: ${count(tree.files.length, "file")}, ${count(sections.length, "section")}`
    )
  }
  if (!isValid) return yield* new Refused()
})
