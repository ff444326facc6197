/**
 * The readiness check of the secret server backend: the state of the server, and whether the store's token may use its
 * engines.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as HealthCheck from "../Plugins/HealthCheck.ts"
import type { SecretServerClient } from "./SecretServerClient.ts"
import type { Answer, Exchange, Request } from "./SecretServerExchange.ts"
import type { SecretServerOptions } from "./SecretServerOptions.ts"
import { reasonOf, says } from "./SecretServerReason.ts"
import type { BackendError } from "./SecretStorageError.ts"

/** Below the time that a host gives to a check, so that this one tells what it waited for. */
const timeoutSeconds = 4.5

/** The state is asked for once: no repetition hides what a probe should see. */
export const healthCheck = (
  exchange: Exchange,
  client: SecretServerClient,
  options: Pick<SecretServerOptions, "url" | "keyValueMount" | "totpMount">
): HealthCheck.HealthCheck => {
  const server = `The secret server at ${options.url.origin}`

  const check = Effect.gen(function* () {
    const state = yield* stateOf(exchange, server)
    if (state.status === "Unhealthy") return state
    const [token, keyValue, totp] = yield* Effect.all(
      [
        tokenOf(client),
        mountOf(client, options.keyValueMount, keyValueEngine),
        mountOf(client, options.totpMount, totpEngine)
      ],
      { concurrency: "unbounded" }
    )
    // A token that may not look itself up may serve all the same.
    if (token.refusal !== undefined && keyValue.refusal !== undefined && totp.refusal !== undefined) {
      return HealthCheck.unhealthy(`${server} refuses the token: ${token.refusal}`)
    }
    const found = [state, token.result, keyValue.result, totp.result]
    const status = (["Unhealthy", "Degraded"] as const).find((it) => found.some((result) => result.status === it))
    const descriptions = found.filter((result) => result.status !== "Healthy").map(({ description }) => description)
    return status === undefined ? state : { status, description: descriptions.join("; ") }
  })

  return HealthCheck.make({
    name: "secretstore",
    tags: ["readiness"],
    check: Effect.timeoutOrElse(check, {
      duration: `${timeoutSeconds} seconds`,
      orElse: () =>
        Effect.succeed(
          HealthCheck.unhealthy(`${server} is unreachable: it gave no answer within ${timeoutSeconds} seconds`)
        )
    })
  })
}

/** A standby passes requests on to the active node. */
const stateOf = (exchange: Exchange, server: string): Effect.Effect<HealthCheck.HealthCheckResult> => {
  const request: Request = { method: "GET", path: "sys/health" }
  return Effect.match(exchange(request), {
    onFailure: ({ reason }) => HealthCheck.unhealthy(`${server} is unreachable: ${reason}`),
    onSuccess: (answer) => {
      switch (answer.status) {
        case 200:
          return HealthCheck.healthy(`${server} is active`)
        case 429:
          return HealthCheck.degraded(`${server} is a standby`)
        case 472:
          return HealthCheck.degraded(`${server} is a disaster recovery standby`)
        case 473:
          return HealthCheck.degraded(`${server} is a performance standby`)
        case 501:
          return HealthCheck.unhealthy(`${server} is not initialised`)
        case 503:
          // A proxy on the way says 503 too, of a server that it cannot reach.
          if (answer.body !== undefined) return HealthCheck.unhealthy(`${server} is sealed`)
      }
      return HealthCheck.unhealthy(`${server} is not available: ${reasonOf(request, answer)}`)
    }
  })
}

/** A part of the check, with the reason where the server refused the token for it. */
interface Finding {
  readonly refusal?: string
  readonly result: HealthCheck.HealthCheckResult
}

const found = (result: HealthCheck.HealthCheckResult): Finding => ({ result })

const refusedWith = (result: HealthCheck.HealthCheckResult) => (refusal: string) => Effect.succeed({ refusal, result })

const ask = (
  client: SecretServerClient,
  path: string,
  onRefusal: (refusal: string) => Effect.Effect<Finding>,
  onAnswer: (answer: Answer) => Finding | Effect.Effect<Finding>
): Effect.Effect<Finding> =>
  Effect.matchEffect(client.send("check its health", { method: "GET", path }), {
    onFailure: (error: BackendError) =>
      error._tag === "SecretAccessDenied"
        ? onRefusal(error.reason)
        : Effect.succeed(found(HealthCheck.unhealthy(error.message))),
    onSuccess: (answer) => {
      const finding = onAnswer(answer)
      return Effect.isEffect(finding) ? finding : Effect.succeed(finding)
    }
  })

/** Tells a token that is about to end: one that renews itself does not come that far. */
const tokenOf = (client: SecretServerClient): Effect.Effect<Finding> =>
  ask(client, "auth/token/lookup-self", refusedWith(HealthCheck.healthy()), ({ body }) => {
    const token = decodeToken(body)
    if (Option.isNone(token)) return found(HealthCheck.healthy())
    const { creation_ttl: whole, ttl } = token.value.data
    const isExpiring = ttl > 0 && ttl < Math.min(whole / 10, 86_400)
    return found(isExpiring ? HealthCheck.degraded(`The token ends in ${ttl} seconds`) : HealthCheck.healthy())
  })

const decodeToken = Schema.decodeUnknownOption(
  Schema.Struct({ data: Schema.Struct({ ttl: Schema.Finite, creation_ttl: Schema.Finite }) })
)

/** What makes a mount the engine that it should be. */
interface Engine {
  readonly name: string
  /** A path of the engine below which there is nothing. */
  readonly probe: string
  readonly isMounted: (mount: unknown) => boolean
}

const keyValueEngine: Engine = {
  name: "a key-value engine of version 2",
  probe: "data/layerhost-health",
  isMounted: (mount) =>
    Predicate.hasProperty(mount, "type") &&
    mount.type === "kv" &&
    Predicate.hasProperty(mount, "options") &&
    Predicate.hasProperty(mount.options, "version") &&
    mount.options.version === "2"
}

const totpEngine: Engine = {
  name: "a TOTP engine",
  probe: "keys/layerhost-health",
  isMounted: (mount) => Predicate.hasProperty(mount, "type") && mount.type === "totp"
}

const mountOf = (client: SecretServerClient, mount: string, engine: Engine): Effect.Effect<Finding> => {
  const other = HealthCheck.unhealthy(`What is mounted at ${mount} is not ${engine.name}`)
  const missing = HealthCheck.unhealthy(`There is no mount at ${mount} for ${engine.name}`)
  const denied = HealthCheck.unhealthy(`The token may not use a mount at ${mount} for ${engine.name}, if there is one`)

  // The server does not tell a mount that the token may not see from one that is not there, until it is used.
  const probe = ask(client, `${mount}/${engine.probe}`, refusedWith(denied), (answer) =>
    found(says(answer, /no handler for route/i) ? missing : HealthCheck.healthy())
  )

  return ask(
    client,
    `sys/internal/ui/mounts/${mount}`,
    () => probe,
    ({ body, status }) => {
      if (status !== 200 || !Predicate.hasProperty(body, "data")) return probe
      return found(engine.isMounted(body.data) ? HealthCheck.healthy() : other)
    }
  )
}
