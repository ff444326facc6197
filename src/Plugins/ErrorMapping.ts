/**
 * Error mappings: what the service answers where an endpoint of any plugin fails, or dies, with an error of one class.
 *
 * An API says in its definition what its endpoints answer; a mapping is for errors that may come from anywhere, such as those
 * of a service that other plugins use.
 */
import type * as Schema from "effect/Schema"

/** A class of errors. */
export type ErrorClass<E> = abstract new (...args: never) => E

/** The problem details (RFC 9457) that answer an error. */
export interface Answer<in E> {
  /** From 400 to 599. An error that is answered with 500 or more is logged, as a failure of the service. */
  readonly status: number
  /** A URI that names the kind of problem; `about:blank` when absent, where the status says it all. */
  readonly type?: string
  /** The kind of problem in a few words; that of the status when absent. */
  readonly title?: string
  /** What went wrong this time, for the client to read. */
  readonly detail?: (error: E) => string
  /** Members of the problem beside those that every one has, which they do not replace. */
  readonly members?: (error: E) => Readonly<Record<string, Schema.Json>>
  readonly headers?: (error: E) => Readonly<Record<string, string>>
}

/** A class of errors with its answer; made by {@link make}. */
export interface ErrorMapping {
  readonly error: ErrorClass<unknown>
  readonly answer: Answer<unknown>
}

/**
 * Makes a mapping that a plugin lists under `errors`. It holds in the whole service, for the class and the classes below it
 * that have none of their own. Each class is mapped once, and none that is the platform's, such as `TypeError`: those tell of
 * mistakes. What a host answers by itself, such as invalid input, stays as it is.
 *
 * @example
 * ```ts
 * class OutOfStock extends Schema.TaggedError<OutOfStock>()("OutOfStock", { item: Schema.String }) {}
 *
 * ErrorMapping.make(OutOfStock, { status: 409, detail: ({ item }) => `There is no ${item} left.` })
 * ```
 */
export const make = <E>(error: ErrorClass<E>, answer: Answer<NoInfer<E>>): ErrorMapping => ({
  error,
  // The host gives it errors of this class only.
  answer: answer as Answer<unknown>
})
