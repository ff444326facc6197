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

/** An engine's answer, or `undefined` for a path that is none of its own. */
export type Engine = (asked: Asked) => Reply | undefined

export const errors = (status: number, ...errors: ReadonlyArray<string>): Reply => ({ status, body: { errors } })

export const data = (data: unknown, warnings: ReadonlyArray<string> | null = null): Reply => ({
  status: 200,
  body: { request_id: "stand-in", lease_id: "", renewable: false, lease_duration: 0, data, auth: null, warnings }
})

export const nothing: Reply = { status: 204 }

export const absent: Reply = errors(404)
