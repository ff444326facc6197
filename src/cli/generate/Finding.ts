/** Several findings as one, with the errors of all. */
import * as Effect from "effect/Effect"
import type { FileSystem } from "effect/FileSystem"
import type { PlatformError } from "effect/PlatformError"
import * as GenerateError from "./GenerateError.ts"
import type { Found } from "./Search.ts"

type Failure = GenerateError.GenerateError | PlatformError
/** What a part of the search finds. */
export type Finding = Effect.Effect<ReadonlyArray<Found>, Failure, FileSystem>

/** What all find, and all their errors. */
export const gather = Effect.fnUntraced(function* (findings: ReadonlyArray<Finding>) {
  const found: Array<Found> = []
  const failures: Array<Failure> = []
  for (const finding of findings) {
    yield* Effect.match(finding, {
      onSuccess: (some) => void found.push(...some),
      onFailure: (failure) => void failures.push(failure)
    })
  }
  return { found, failures }
})

/** What `f` finds for each item, in the items' order; or all their errors as one. */
export const collect = <A>(items: ReadonlyArray<A>, f: (item: A) => Finding): Finding =>
  Effect.flatMap(gather(items.map(f)), ({ failures, found }) =>
    failures.length === 0 ? Effect.succeed(found) : GenerateError.merge(failures)
  )
