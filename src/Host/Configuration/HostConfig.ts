/**
 * The configuration sections of the host itself.
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Section from "../../Plugins/Section.ts"
import * as ListenUrl from "../Http/ListenUrl.ts"
import * as ServerLimits from "../Tls/ServerLimits.ts"
import { DurationText } from "./DurationText.ts"

/** The listeners and the limits of the host. */
export class HostConfig extends Section.Service<HostConfig>()("host", {
  ...ServerLimits.fields,
  urls: Schema.String.check(
    Schema.makeFilter((urls) => {
      const parsed = ListenUrl.parseList(urls)
      return Result.isSuccess(parsed) ? true : parsed.failure.join("; ")
    })
  )
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed("http://+:8080")))
    .annotateKey({ description: "Where to listen: URLs, separated by commas." }),
  maxRequestSize: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed(8_388_608)))
    .annotateKey({ description: "The largest body of a request, in bytes." }),
  additionalConfigPaths: Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed(""))).annotateKey({
    description:
      "More directories of configuration files, separated by commas; from the environment or the command line only."
  }),
  reloadOnChange: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))).annotateKey({
    description: "Whether changed configuration files are read again while the service runs."
  }),
  shutdownTimeout: DurationText.pipe(Schema.withDecodingDefaultKey(Effect.succeed("30 seconds"))).annotateKey({
    description: "How long requests in flight may take once the host stops."
  }),
  shutdownDelay: DurationText.pipe(Schema.withDecodingDefaultKey(Effect.succeed("0 seconds"))).annotateKey({
    description: "How long the host still takes requests once it was told to stop, for load balancers to notice."
  }),
  keepAliveGrace: DurationText.pipe(Schema.withDecodingDefaultKey(Effect.succeed("500 millis"))).annotateKey({
    description:
      "How long connections must be quiet once the host stopped listening before those that wait for a request are closed; one may be on its way."
  })
}) {}

/** The OpenAPI document and the page that shows it. */
export class DocsConfig extends Section.Service<DocsConfig>()("docs", {
  enabled: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(true))).annotateKey({
    description: "Whether the OpenAPI document and its page are served."
  })
}) {}
