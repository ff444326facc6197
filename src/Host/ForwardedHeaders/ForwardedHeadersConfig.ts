/**
 * The section `forwardedHeaders` of the configuration.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Section from "../../Plugins/Section.ts"
import * as Address from "./Address.ts"

const Network = Schema.String.check(
  Schema.makeFilter((text) => {
    const network = Address.readNetwork(text)
    return Result.isSuccess(network) ? true : network.failure
  })
)

/** The headers in which proxies tell whom they speak for: `X-Forwarded-*`, or `Forwarded` of RFC 7239. */
export const families = ["x-forwarded", "forwarded"] as const

/** Whose word on the client counts. */
export class ForwardedHeadersConfig extends Section.Service<ForwardedHeadersConfig>()("forwardedHeaders", {
  trustedProxies: Schema.optionalKey(Schema.Array(Network)).annotateKey({
    description: "Proxies that are believed: addresses and CIDRs. Everybody is when absent, nobody when empty."
  }),
  headers: Schema.Literals(families)
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed("x-forwarded" as const)))
    .annotateKey({
      description: "The headers that count. Only one family does: proxies pass the other on as the client sent it."
    })
}) {}
