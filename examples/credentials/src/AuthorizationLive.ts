import * as Effect from "effect/Effect"
import * as HttpEffect from "effect/http/HttpEffect"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { createHash, timingSafeEqual } from "node:crypto"
import { Authorization } from "./Authorization.ts"
import { CredentialsConfig } from "./CredentialsConfig.ts"
import { Unauthorized } from "./CredentialsErrors.ts"

/** Checks the token of a request against that of the configuration. */
export const AuthorizationLive = Layer.effect(
  Authorization,
  Effect.gen(function* () {
    const { token } = yield* CredentialsConfig
    const expected = digest(token)
    return {
      bearer: Effect.fnUntraced(function* (handler, { credential }) {
        // Digests have one length, so the comparison takes the same time whatever the caller sent.
        if (timingSafeEqual(digest(credential), expected)) return yield* handler
        yield* HttpEffect.appendPreResponseHandler((_request, response) =>
          Effect.succeed(HttpServerResponse.setHeader(response, "www-authenticate", "Bearer"))
        )
        return yield* new Unauthorized({ detail: "A valid bearer token is required." })
      })
    }
  })
)

const digest = (token: Redacted.Redacted) => createHash("sha256").update(Redacted.value(token)).digest()
