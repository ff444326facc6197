/** Input as an attacker, or a strange client, would send it. */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"

const pieces = [
  ..."aZ09 \t\n\r-:?,[]{}#&*!|>'\"%@`~=<.\\/\u0000\u0007\u001b\u007f\u0085\u00a0\u00e9\u2028\ufeff\u{1f600}",
  "null",
  "true",
  "yes",
  "0x1F",
  "0o17",
  "1e3",
  ".nan",
  "-.inf",
  "12:30:45",
  "2001-12-14",
  "<<",
  "*a",
  "&a ",
  "!!binary ",
  "!!str ",
  "!x ",
  "- ",
  ": ",
  "? ",
  "|\n  ",
  ">-\n  ",
  "---\n",
  "...\n",
  "%YAML 1.1\n",
  "__proto__",
  "constructor",
  '{"a":',
  "\\ud83d"
]

/** Texts of pieces that mean something in YAML, JSON, headers or logs. */
export const hostileText = Arbitrary.map(
  Arbitrary.array(Arbitrary.schema(Schema.Literals(pieces)), { maxLength: 24 }),
  (parts) => parts.join("")
)

/** Any bytes. */
export const bytes = Arbitrary.map(
  Arbitrary.array(Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))), {
    maxLength: 40
  }),
  (values) => Uint8Array.from(values)
)

/** JSON values; half of them with hostile texts as keys and values. Texts are well-formed Unicode, as UTF-8 is. */
export const json = Arbitrary.map(
  Arbitrary.all({
    plain: Arbitrary.schema(Schema.Json),
    texts: Arbitrary.array(hostileText, { maxLength: 6 }),
    isPlain: Arbitrary.schema(Schema.Boolean)
  }),
  ({ isPlain, plain, texts }): Schema.Json => {
    const hostile = { texts, nested: [Object.fromEntries(texts.map((text, index) => [text, texts[index + 1] ?? {}]))] }
    return toWellFormed(isPlain ? plain : hostile)
  }
)

const toWellFormed = (value: Schema.Json): Schema.Json => {
  if (typeof value === "string") return value.toWellFormed()
  if (Array.isArray(value)) return value.map(toWellFormed)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key.toWellFormed(), toWellFormed(each)]))
}
