import { assert, describe, it } from "@effect/vitest"
import * as http from "node:http"
import { setTimeout as pause } from "node:timers/promises"
import * as NodeProcess from "../../support/NodeProcess.ts"

/** What a client saw until nobody listened any more. */
interface Seen {
  answered: number
  /** Answers after which the connection was to be closed. */
  closing: number
  /** Requests on a connection that had served before. */
  reused: number
  /** What went wrong other than that nobody listens, with what the request was sent on. */
  readonly failures: Array<string>
}

/** Sends one request after another over a connection that is kept, until nobody listens; tells when it was kept at first. */
const loop = async (url: string, thinkMillis: number, onKept: () => void): Promise<Seen> => {
  const seen: Seen = { answered: 0, closing: 0, reused: 0, failures: [] }
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  for (;;) {
    const outcome = await send(url, agent)
    if (outcome.isReused && ++seen.reused === 1) onKept()
    if (outcome.error === undefined) {
      seen.answered++
      if (outcome.isClosing) seen.closing++
    } else if (!outcome.isReused && (outcome.error === "ECONNREFUSED" || outcome.error === "ECONNRESET")) break
    else {
      seen.failures.push(`${outcome.error} on a connection that was ${outcome.isReused ? "kept" : "new"}`)
      break
    }
    if (thinkMillis > 0) await pause(thinkMillis)
  }
  agent.destroy()
  return seen
}

const send = (url: string, agent: http.Agent) =>
  new Promise<{ isReused: boolean; isClosing?: boolean; error?: string }>((resolve) => {
    const request = http.get(`${url}/quick`, { agent }, (response) => {
      response.resume()
      response.on("error", (error: NodeJS.ErrnoException) =>
        resolve({ isReused: request.reusedSocket, error: error.code ?? error.message })
      )
      response.on("end", () =>
        resolve({
          isReused: request.reusedSocket,
          ...(response.statusCode === 200
            ? { isClosing: response.headers.connection === "close" }
            : { error: String(response.statusCode) })
        })
      )
    })
    request.on("error", (error: NodeJS.ErrnoException) =>
      resolve({ isReused: request.reusedSocket, error: error.code ?? error.message })
    )
  })

describe("a restart under load", () => {
  it.concurrent.each([
    ["without a delay", {}],
    ["with a delay", { HOST_SHUTDOWNDELAY: "300 millis" }]
  ] as const)("%s answers every request over a connection that is kept", async (_, environment) => {
    const service = NodeProcess.start("test/Host/fixtures/busy.ts", {
      environment: { LOGGING_FORMAT: "json", ...environment }
    })
    const [, url] = await service.waitFor(/Listening on (http:[^",]+)/)
    const kept = Array.from({ length: 40 }, () => Promise.withResolvers<void>())
    const clients = kept.map(({ resolve }, i) => loop(url!, i, resolve))
    await Promise.all(kept.map(({ promise }) => promise))
    service.signal("SIGTERM")
    const seen = await Promise.all(clients)
    assert.deepStrictEqual(
      seen.flatMap(({ failures }) => failures),
      []
    )
    // Each client was told to close the connection before it was closed.
    assert.isTrue(
      seen.every(({ closing, reused }) => closing > 0 && reused > 0),
      JSON.stringify(seen)
    )
    const { status, stderr } = await service.ended
    assert.deepStrictEqual([status, stderr], [0, ""])
  })
})
