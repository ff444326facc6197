/**
 * One response of the secret server, read whole as undici hands it over.
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { IncomingHttpHeaders } from "node:http"
import type { Dispatcher } from "./SecretServerConnections.ts"

/** There is no answer that could be understood. */
export class NoAnswer extends Schema.TaggedError<NoAnswer>()("NoAnswer", {
  reason: Schema.String,
  /** Whether the same request may fare better. */
  transient: Schema.Boolean,
  /** Whether the server may have got the request. */
  sent: Schema.Boolean,
  /** What it answered with, if it came that far. */
  status: Schema.optionalKey(Schema.Int)
}) {
  override get message(): string {
    return `No answer of the secret server: ${this.reason}`
  }
}

/** A response, whatever it says. */
export interface Received {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** Collects a response of at most so many bytes, and gives it, or says why there is none, once. */
export class SecretServerResponse implements Dispatcher.DispatchHandler {
  readonly #maxBytes: number
  #end: ((result: Result.Result<Received, NoAnswer>) => void) | undefined
  #controller: Dispatcher.DispatchController | undefined
  #status: number | undefined
  #headers: IncomingHttpHeaders = {}
  readonly #chunks: Array<Buffer> = []
  #bytes = 0

  constructor(maxBytes: number, end: (result: Result.Result<Received, NoAnswer>) => void) {
    this.#maxBytes = maxBytes
    this.#end = end
  }

  /** Ends the request, whatever comes of it. */
  readonly abort = (): void => {
    this.#end = undefined
    this.#controller?.abort(abandoned)
  }

  /** Ends the request with an error. */
  readonly fail = (error: NoAnswer): void => {
    this.#settle(Result.fail(error))
    this.abort()
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    // Nobody waited so long for a connection.
    if (this.#end === undefined) controller.abort(abandoned)
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // Before it come those that only inform.
    if (status < 200) return
    this.#status = status
    this.#headers = headers
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#bytes += chunk.length
    this.#chunks.push(chunk)
    if (this.#bytes > this.#maxBytes) {
      this.fail(
        this.#noAnswer({ reason: `its answer is longer than ${this.#maxBytes} bytes`, transient: false, sent: true })
      )
    }
  }

  onResponseEnd(): void {
    const text = (this.#chunks.length === 1 ? this.#chunks[0]! : Buffer.concat(this.#chunks)).toString("utf8")
    this.#settle(Result.succeed({ status: this.#status!, headers: this.#headers, text }))
  }

  onResponseError(_: unknown, error: Error): void {
    const code = codeOf(error)
    const what = this.#status === undefined ? "it cannot be reached" : "its answer broke off"
    const reason = code === undefined ? what : `${what} (${code})`
    const sent = code === undefined || !connecting.test(code)
    this.#settle(Result.fail(this.#noAnswer({ reason, transient: true, sent })))
  }

  #settle(result: Result.Result<Received, NoAnswer>): void {
    const end = this.#end
    this.#end = undefined
    end?.(result)
  }

  #noAnswer(what: { readonly reason: string; readonly transient: boolean; readonly sent: boolean }): NoAnswer {
    return new NoAnswer({ ...what, ...(this.#status !== undefined && { status: this.#status }) })
  }
}

/** Nobody hears of it: who ended the request knows why. */
const abandoned = new Error("The request was abandoned")

/** Failures to find the server, to connect to it, and to trust it, all of which come before any request. */
const connecting = /^E(?:CONNREFUSED|NOTFOUND|AI_\w+|HOSTUNREACH|NETUNREACH)$|CONNECT_TIMEOUT|CERT|SIGNATURE|ISSUER/

/** Only the code of an error: its message may quote what was sent. */
const codeOf = (cause: unknown): string | undefined => {
  for (let error = cause, depth = 0; Predicate.isObject(error) && depth < 5; depth++) {
    // A host with several addresses fails with one error for each.
    const code = "code" in error ? error.code : undefined
    if (typeof code === "string" && /^[A-Z][A-Z0-9_]*$/.test(code)) return code
    error = "cause" in error ? error.cause : undefined
  }
  return undefined
}
