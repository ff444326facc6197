/** What is wrong with a request before its handler runs. */
import * as Data from "effect/Data"
import type { ValidationError } from "./Validation.ts"

/**
 * Parts of the request do not decode; answered with 400 and every invalid field. It is no `Error`: where in the code that was
 * found tells nothing, and to find that out would be the dearest part of the answer.
 */
export class InvalidRequest extends Data.TaggedClass("InvalidRequest")<{
  readonly validationErrors: ReadonlyArray<ValidationError>
}> {}

/** The body is in a type that the endpoint does not take; answered with 415. */
export class UnsupportedMediaType extends Data.TaggedError("UnsupportedMediaType") {}

/** The client takes none of the types that the endpoint answers with; answered with 406. */
export class NotAcceptable extends Data.TaggedError("NotAcceptable")<{
  readonly mediaTypes: ReadonlyArray<string>
}> {}

/** The body is not in the format that its type promises; the message says what was expected, and where. */
export class MalformedBody extends Data.TaggedError("MalformedBody")<{ readonly message: string }> {}

/** The body, or what it stands for, is larger than the host takes; answered with 413. */
export class BodyTooLarge extends Data.TaggedError("BodyTooLarge")<{ readonly message: string }> {}
