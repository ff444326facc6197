/** Tokens and the ways to log in for one. */
import { data, type Engine, errors, type Flavour, type Reply } from "./Reply.ts"

export interface Token {
  readonly id: string
  /** Seconds; 0 for one without end. */
  readonly ttl: number
  readonly renewable: boolean
  readonly issuedAtMillis: number
  /** The longest life, in seconds. */
  readonly maxTtl: number
  endsAtMillis: number
  /** Whether its policies allow a request; all when absent. */
  readonly allows?: (method: string, path: string) => boolean
}

/** What logins give. */
export interface Grant {
  ttl: number
  maxTtl: number
  renewable: boolean
}

export interface Account {
  readonly path: string
  readonly accepts: (body: Record<string, unknown>) => boolean
}

const number = (() => {
  let count = 0
  return () => ++count
})()

export class Tokens {
  readonly tokens = new Map<string, Token>()
  readonly accounts: Array<Account> = []
  readonly grant: Grant = { ttl: 3600, maxTtl: 1_000_000, renewable: true }
  readonly #now: () => number
  readonly #flavour: Flavour

  constructor(now: () => number, flavour: Flavour) {
    this.#now = now
    this.#flavour = flavour
  }

  issue(options: Partial<Token> = {}): Token {
    const ttl = options.ttl ?? 0
    const now = this.#now()
    const token: Token = {
      id: `hvs.canary-token-${number()}`,
      ttl,
      renewable: true,
      issuedAtMillis: now,
      maxTtl: Number.POSITIVE_INFINITY,
      endsAtMillis: ttl === 0 ? Number.POSITIVE_INFINITY : now + ttl * 1000,
      ...options
    }
    this.tokens.set(token.id, token)
    return token
  }

  find(id: string | undefined): Token | undefined {
    const token = id === undefined ? undefined : this.tokens.get(id)
    return token !== undefined && this.#now() < token.endsAtMillis ? token : undefined
  }

  readonly engine: Engine = ({ method, path, token: id }) => {
    if (path.startsWith("auth/token/")) {
      const token = this.find(id)!
      if (method === "GET" && path === "auth/token/lookup-self") return this.#look(token)
      if (method === "POST" && path === "auth/token/renew-self") return this.#renew(token)
    }
    return undefined
  }

  /** A login needs no token. */
  readonly logIn: Engine = ({ body, method, path }) => {
    if (method !== "POST" || !/^auth\/.+\/login(?:\/|$)/.test(path)) return undefined
    const account = this.accounts.find((account) => account.path === path)
    // An auth mount that is not there looks like any path without permission.
    if (account === undefined) return errors(403, "permission denied")
    if (!account.accepts(body)) {
      return errors(400, /\/login\//.test(path) ? "invalid username or password" : "invalid role or secret ID")
    }
    return this.#auth(this.issue({ ...this.grant }))
  }

  #auth(token: Token): Reply {
    const seconds = token.ttl === 0 ? 0 : Math.floor((token.endsAtMillis - this.#now()) / 1000)
    const auth = { client_token: token.id, accessor: "a", policies: ["default"], renewable: token.renewable }
    return { status: 200, body: { data: null, auth: { ...auth, lease_duration: seconds } } }
  }

  #renew(token: Token): Reply {
    if (!token.renewable) return errors(400, this.#flavour.notRenewable)
    const last = token.issuedAtMillis + token.maxTtl * 1000
    token.endsAtMillis = token.ttl === 0 ? token.endsAtMillis : Math.min(this.#now() + token.ttl * 1000, last)
    return this.#auth(token)
  }

  #look(token: Token): Reply {
    const isEndless = token.ttl === 0
    return data({
      id: token.id,
      ttl: isEndless ? 0 : Math.floor((token.endsAtMillis - this.#now()) / 1000),
      creation_ttl: token.ttl,
      expire_time: isEndless ? null : new Date(token.endsAtMillis).toISOString(),
      ...(!isEndless && { renewable: token.renewable })
    })
  }
}
