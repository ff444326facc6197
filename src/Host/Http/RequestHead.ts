/**
 * The head of a request, and what makes it unfit before anything looks at what is asked for.
 */
import type { IncomingMessage } from "node:http"
import type { ServerLimits } from "../Tls/ServerLimits.ts"
import type * as Problem from "./Problem.ts"

/** The head of a request as its routes are to see it. */
export interface RequestHead {
  readonly method: string
  /** Path and query. */
  readonly url: string
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
}

/** What is wrong with the head of a request over HTTP/1; over HTTP/2, Node itself refuses it. */
export const problemOf = (
  { headers }: RequestHead,
  source: object,
  { maxHeaderCount }: Pick<ServerLimits, "maxHeaderCount">
): Problem.Problem | undefined => {
  const { httpVersionMajor, httpVersionMinor, rawHeaders } = source as Partial<IncomingMessage>
  // A request that came in memory has no raw headers.
  if (httpVersionMajor !== 1 || rawHeaders === undefined) return undefined
  if (rawHeaders.length / 2 > maxHeaderCount) return tooManyHeaders
  if (headers["host"] === undefined && httpVersionMinor === 1) return noHost
  const { expect } = headers
  return expect === undefined || expect.toLowerCase() === "100-continue" ? undefined : unknownExpectation
}

const close = { connection: "close" }

const tooManyHeaders: Problem.Problem = { status: 431, detail: "The request has too many headers.", headers: close }

const noHost: Problem.Problem = { status: 400, detail: "The request has no Host header.", headers: close }

const unknownExpectation: Problem.Problem = {
  status: 417,
  detail: "The request expects something other than 100-continue.",
  headers: close
}
