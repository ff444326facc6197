/** What the stand-in's engines get and give. */

export interface Asked {
  readonly method: string
  /** Below `/v1/`. */
  readonly path: string
  readonly query: URLSearchParams
  readonly body: Record<string, unknown>
  readonly token: string | undefined
}

export interface Reply {
  readonly status: number
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Where Vault and OpenBao answer differently. */
export interface Flavour {
  /** Whether `after` and `limit` are heeded in lists, as OpenBao does; Vault gives all names, with a warning. */
  pages: boolean
  /** Whether codes come with their times, as OpenBao gives them. */
  timesCodes: boolean
  /** What is said of a token that is unknown or over. */
  unknownToken: string
  /** What is said where a token without end should be renewed. */
  notRenewable: string
}

export const openBao: Flavour = {
  pages: true,
  timesCodes: true,
  unknownToken: "permission denied",
  notRenewable: "lease is not renewable"
}

export const vault: Flavour = {
  pages: false,
  timesCodes: false,
  unknownToken: "2 errors occurred:\n\t* permission denied\n\t* invalid token\n\n",
  notRenewable: "invalid lease ID"
}

/** An engine's answer, or `undefined` for a path that is none of its own. */
export type Engine = (asked: Asked) => Reply | undefined

export const errors = (status: number, ...errors: ReadonlyArray<string>): Reply => ({ status, body: { errors } })

export const data = (data: unknown, warnings: ReadonlyArray<string> | null = null): Reply => ({
  status: 200,
  body: { request_id: "stand-in", lease_id: "", renewable: false, lease_duration: 0, data, auth: null, warnings }
})

export const nothing: Reply = { status: 204, headers: { "content-type": "application/json" } }

export const absent: Reply = errors(404)
