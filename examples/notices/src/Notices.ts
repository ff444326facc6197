import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { NoticesConfig } from "./NoticesConfig.ts"

/** All notices. */
export class Notices extends Context.Service<Notices, { readonly texts: ReadonlyArray<string> }>()("notices/Notices") {
  static readonly layer = Layer.effect(
    Notices,
    Effect.map(NoticesConfig, ({ texts }) => ({ texts }))
  )
}
