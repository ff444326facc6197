import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/** Who buys. */
export class Customers extends Context.Service<
  Customers,
  { readonly name: (id: string) => Effect.Effect<string | undefined> }
>()("shop/Customers") {
  /** The customers of a new shop. */
  static readonly layer = Layer.sync(Customers, () => {
    const names = new Map([["1", "Ada"]])
    return { name: (id) => Effect.succeed(names.get(id)) }
  })
}
