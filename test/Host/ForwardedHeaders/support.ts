/** Texts as a strange client would send them. */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"

/** Texts of some characters or words. */
export const textOf = (pieces: Iterable<string>): Arbitrary.Arbitrary<string> =>
  Arbitrary.map(Arbitrary.array(Arbitrary.schema(Schema.Literals([...pieces])), { maxLength: 40 }), (parts) =>
    parts.join("")
  )
