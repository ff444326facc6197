/** What is wrong with a request before its handler runs. */
import * as Data from "effect/Data"
import type { ValidationError } from "./Validation.ts"

/** Parts of the request do not decode; answered with 400 and every invalid field. */
export class InvalidRequest extends Data.TaggedError("InvalidRequest")<{
  readonly validationErrors: ReadonlyArray<ValidationError>
}> {}

/** The body is in a type that the endpoint does not take; answered with 415. */
export class UnsupportedMediaType extends Data.TaggedError("UnsupportedMediaType") {}
