import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { Plugin } from "layerhost/Plugins"
import { Notices } from "./Notices.ts"
import { NoticesConfig } from "./NoticesConfig.ts"

/** The notices over HTTP. */
export const notices = Plugin.make({
  id: "notices",
  config: [NoticesConfig],
  services: Notices.layer,
  routes: HttpRouter.add(
    "GET",
    "/notices",
    Effect.map(Notices, ({ texts }) => HttpServerResponse.jsonUnsafe(texts))
  )
})
