/**
 * What the commands print. On a terminal secret values are hidden unless they are asked for: someone may look over the
 * shoulder, and terminals keep what they showed. A pipe or a file gets them as they are.
 */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import * as YAML from "yaml"
import type { Secret } from "../../SecretStore/Secret.ts"
import { usage } from "./SecretsCommandError.ts"

/** Prints a value as indented JSON. */
export const json = (value: unknown): Effect.Effect<void> => Console.log(JSON.stringify(value, undefined, 2))

/** Writes a text as it is, without a line's end. */
export const write = Effect.fnUntraced(function* (to: "stdout" | "stderr", text: string) {
  const stdio = yield* Stdio.Stdio
  yield* Effect.mapError(Stream.run(Stream.make(text), stdio[to]()), ({ message }) => usage(message))
})

/** Prints a secret, or one of its fields. */
export const secret = Effect.fnUntraced(function* (
  secret: Secret,
  options: { readonly field: string | undefined; readonly reveal: boolean; readonly json: boolean }
) {
  const { stdoutIsTerminal } = yield* Stdio.Stdio
  const isTerminal = yield* stdoutIsTerminal
  const isHidden = isTerminal && !options.reveal
  const shown = show(secret, isHidden) as Readonly<Record<string, unknown>>
  if (options.field === undefined) {
    yield* options.json ? json(shown) : write("stdout", YAML.stringify(shown, { lineWidth: 0 }))
    if (isHidden) yield* Console.error("Secret values are hidden on a terminal; --reveal shows them")
    return
  }
  const value = fieldOf(shown, options.field)
  if (value === undefined) {
    return yield* usage(
      `A ${secret.type} has no field "${options.field}"; expected one of ${fieldNames(shown).join(", ")}`
    )
  }
  if (options.json) return yield* json(value)
  yield* write("stdout", isTerminal ? `${value}\n` : value)
  if (isHidden && value === hiddenText)
    yield* Console.error("Secret values are hidden on a terminal; --reveal shows them")
})

/** As `Redacted` itself writes it. */
const hiddenText = "<redacted>"

/** Plain data: texts in the place of dates, and of secret values what they are or that they are hidden. */
const show = (value: unknown, isHidden: boolean): unknown => {
  if (Redacted.isRedacted(value)) return isHidden ? hiddenText : Redacted.value(value)
  if (typeof value !== "object" || value === null) return value
  if ("toJSON" in value && typeof value.toJSON === "function") return value.toJSON()
  return Object.fromEntries(Object.entries(value).map(([key, field]) => [key, show(field, isHidden)]))
}

/** The fields that hold a text, by their paths. */
const leaves = (value: unknown, path: string): ReadonlyArray<readonly [string, string]> =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([key, field]) => leaves(field, path === "" ? key : `${path}.${key}`))
    : [[path, String(value)]]

const fieldOf = (shown: unknown, field: string): string | undefined =>
  leaves(shown, "").find(([path]) => path.toLowerCase() === field.toLowerCase())?.[1]

const fieldNames = (shown: unknown): ReadonlyArray<string> => leaves(shown, "").map(([path]) => path)
