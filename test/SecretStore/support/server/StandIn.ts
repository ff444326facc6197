/**
 * A stand-in for the secret server on a loopback port: its engines, tokens and states as far as the store meets them, and
 * faults on demand. Its time is the test's.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as http from "node:http"
import type { AddressInfo, Socket } from "node:net"
import * as KeyValue from "./KeyValue.ts"
import { type Asked, data, type Engine, errors, type Flavour, openBao, type Reply } from "./Reply.ts"
import { Tokens } from "./Tokens.ts"
import * as Totp from "./Totp.ts"

export type State = "active" | "standby" | "drStandby" | "performanceStandby" | "uninitialised" | "sealed"

const statusOf = {
  active: 200,
  standby: 429,
  drStandby: 472,
  performanceStandby: 473,
  uninitialised: 501,
  sealed: 503
} satisfies Record<State, number>

/** Takes the place of an answer; `answer` lets the server do what was asked, before or instead of what else happens. */
export type Fault = (response: http.ServerResponse, answer: () => Reply) => void

export interface Served extends Asked {
  readonly headers: http.IncomingHttpHeaders
  readonly socket: Socket
}

export interface Options {
  /** OpenBao's when absent. */
  readonly flavour?: Flavour
  readonly keyValueMount?: string
  readonly totpMount?: string
  readonly createServer?: (listener: http.RequestListener) => http.Server
}

export class StandIn {
  readonly documents: KeyValue.Documents = new Map()
  readonly keys: Totp.Keys = new Map()
  readonly flavour: Flavour
  readonly tokens: Tokens
  readonly root: string
  readonly served: Array<Served> = []
  state: State = "active"
  /** The mounts with what `sys/internal/ui/mounts` tells of them. */
  readonly mounts: Map<string, object>
  /** Chooses a fault for a request, or none. */
  fault: (asked: Asked) => Fault | undefined = () => undefined

  readonly #engines: ReadonlyArray<Engine>
  readonly #createServer: (listener: http.RequestListener) => http.Server
  #server: http.Server | undefined
  #port = 0

  constructor(now: () => number, options: Options) {
    const { keyValueMount = "credentials", totpMount = "totp" } = options
    this.flavour = { ...(options.flavour ?? openBao) }
    this.tokens = new Tokens(now, this.flavour)
    this.root = this.tokens.issue({ renewable: false }).id
    this.mounts = new Map<string, object>([
      [keyValueMount, { type: "kv", options: { version: "2" } }],
      [totpMount, { type: "totp", options: {} }]
    ])
    this.#createServer = options.createServer ?? http.createServer
    this.#engines = [
      this.tokens.engine,
      this.#mount,
      KeyValue.make(keyValueMount, this.documents, this.flavour, now),
      Totp.make(totpMount, this.keys, this.flavour, now)
    ]
  }

  get port(): number {
    return this.#port
  }

  get url(): URL {
    return new URL(`http://127.0.0.1:${this.#port}`)
  }

  /** Listens, on the port that it had before if any. */
  async start(): Promise<void> {
    const server = this.#createServer((request, response) => void this.#serve(request, response))
    server.keepAliveTimeout = 60_000
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject)
      server.listen(this.#port, "127.0.0.1", resolve)
    })
    this.#port = (server.address() as AddressInfo).port
    this.#server = server
  }

  /** Breaks every connection and listens no more. What is stored stays. */
  async stop(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    if (server === undefined) return
    const closed = new Promise((resolve) => server.close(resolve))
    server.closeAllConnections()
    await closed
  }

  /** The paths of the requests so far, without those of the health check's own. */
  paths(): ReadonlyArray<string> {
    return this.served.map(({ method, path }) => `${method} ${path}`)
  }

  async #serve(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const chunks: Array<Buffer> = []
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer)
    } catch {
      return
    }
    const url = new URL(request.url!, "http://stand-in")
    const text = Buffer.concat(chunks).toString("utf8")
    const asked: Asked = {
      method: request.method!,
      path: decodeURI(url.pathname.replace(/^\/v1\//, "")),
      query: url.searchParams,
      body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>),
      token: request.headers["x-vault-token"] as string | undefined
    }
    this.served.push({ ...asked, headers: request.headers, socket: request.socket })
    const answer = () => this.#answer(asked)
    const fault = this.fault(asked)
    if (fault === undefined) send(response, answer())
    else fault(response, answer)
  }

  #answer(asked: Asked): Reply {
    const { method, path } = asked
    if (path === "sys/health") return this.#health()
    if (this.state === "sealed" || this.state === "uninitialised") return errors(503, "Vault is sealed")
    const login = this.tokens.logIn(asked)
    if (login !== undefined) return login
    const token = this.tokens.find(asked.token)
    if (asked.token === undefined) return errors(403, "permission denied")
    if (token === undefined) return errors(403, this.flavour.unknownToken)
    if (token.allows?.(method, path) === false) return errors(403, "1 error occurred:\n\t* permission denied\n\n")
    const isUnmounted =
      !/^(?:auth|sys)\//.test(path) && ![...this.mounts.keys()].some((mount) => path.startsWith(`${mount}/`))
    if (!isUnmounted) {
      for (const engine of this.#engines) {
        const reply = engine(asked)
        if (reply !== undefined) return reply
      }
    }
    return errors(404, `no handler for route "${path}". route entry not found.`)
  }

  readonly #mount: Engine = ({ path, token }) => {
    const [, mount] = /^sys\/internal\/ui\/mounts\/(.*)$/.exec(path) ?? []
    if (mount === undefined) return undefined
    const found = this.mounts.get(mount)
    const allowed = this.tokens.find(token)?.allows?.("GET", `${mount}/`) ?? true
    if (found !== undefined && allowed) return data({ ...found, path: `${mount}/` })
    const message = `preflight capability check returned 403, please ensure client's policies grant access to path "${mount}/"`
    return errors(403, message)
  }

  #health(): Reply {
    const body = {
      initialized: this.state !== "uninitialised",
      sealed: this.state === "sealed" || this.state === "uninitialised",
      standby: this.state === "standby",
      version: "stand-in"
    }
    return { status: statusOf[this.state], body }
  }
}

export const send = (response: http.ServerResponse, { body, headers, status }: Reply): void => {
  if (body === undefined) return void response.writeHead(status, headers).end()
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(`${JSON.stringify(body)}\n`)
}

/** A started stand-in that stops with the scope. */
export const standIn = (options: Options = {}) =>
  Effect.acquireRelease(
    Effect.gen(function* () {
      const clock = yield* Clock.Clock
      const server = new StandIn(() => clock.currentTimeMillisUnsafe(), options)
      yield* Effect.promise(() => server.start())
      return server
    }),
    (server) => Effect.promise(() => server.stop())
  )
