/** Request ids: the client's where it is a sane token, else a new one. */
import { randomUUID } from "node:crypto"

/** The header that carries a request's id, both ways. */
export const header = "x-request-id"

/** Letters, digits and `-._~+/=:` up to 128 of them: nothing that could forge a log line or a header. */
const sane = /^[A-Za-z0-9\-._~+/=:]{1,128}$/

/** The id of a request, given what its client sent. */
export const fromHeader = (value: string | undefined): string =>
  value !== undefined && sane.test(value) ? value : randomUUID()
