import { assert, describe, expect, it } from "@effect/vitest"
import { once } from "node:events"
import { createServer } from "node:net"
import type { AddressInfo } from "node:net"
import * as NodeProcess from "../support/NodeProcess.ts"

const start = (scenario: string, environment: Readonly<Record<string, string>> = {}) =>
  NodeProcess.start("test/Host/fixtures/service.ts", {
    args: [scenario],
    environment: { LOGGING_FORMAT: "json", ...environment }
  })

/** What was logged, but for the line that tells whose word on the client is taken. */
const messagesOf = (lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.map((line) => JSON.parse(line).message as string).filter((message) => !message.includes("trusted to name"))

describe("a host as a process", () => {
  it.concurrent.each([
    ["runMain", "SIGTERM"],
    ["runMain", "SIGINT"],
    ["run", "SIGTERM"],
    ["layer", "SIGTERM"]
  ] as const)("run by %s, answers a request in flight after %s, releases all, and ends with 0", async (how, signal) => {
    const service = start(how)
    const [, url] = await service.waitFor(/Listening on (http:[^",]+)/)
    const answer = fetch(`${url}/slow`)
    await service.waitFor(/"working"/)
    service.signal(signal)
    await service.waitFor(/"Shutting down"/)
    service.say("go")
    const response = await answer
    assert.deepStrictEqual([response.status, await response.text()], [200, "done"])
    const { signal: endedBy, status, stderr, stdout } = await service.ended
    assert.deepStrictEqual([status, endedBy, stderr], [0, null, ""])
    assert.deepStrictEqual(
      messagesOf(stdout).filter((message) => !message.startsWith("Listening")),
      ["the service is there", "working", "Shutting down", "GET /slow 200", "the service is released"]
    )
  })

  it("ends with 0 when a signal comes while it starts, and releases what was built", async () => {
    const service = start("stuck")
    await service.waitFor(/"stuck"/)
    service.signal("SIGTERM")
    const { status, stderr, stdout } = await service.ended
    assert.deepStrictEqual([status, stderr], [0, ""])
    assert.deepStrictEqual(messagesOf(stdout), ["the service is there", "stuck", "the service is released"])
  })

  it("ends with 1 when a plugin fails, and tells why on standard error", async () => {
    const { status, stderr, stdout } = await start("broken").ended
    assert.strictEqual(status, 1)
    expect(stderr).toMatchInlineSnapshot(`
      "The host cannot start: 2 problems.
        - plugin "slow", plugin list: the id stands 2 times (this service, this service); list the plugin once, or give each its own id
        - plugin "broken", services: Error: no connection
      "
    `)
    assert.deepStrictEqual(messagesOf(stdout), ["the service is there", "the service is released"])
  })

  it("ends with 1 when something cannot be released, and tells why", async () => {
    const service = start("bad-finalizer")
    await service.waitFor(/Listening/)
    service.signal("SIGTERM")
    const { status, stdout } = await service.ended
    assert.strictEqual(status, 1)
    assert.deepStrictEqual(messagesOf(stdout).slice(-2), [
      "the service is released",
      "Not everything could be released"
    ])
    assert.include(stdout.at(-1), "cannot let go")
  })

  it("ends with 1 when its port is taken, and releases what was built", async () => {
    const blocker = createServer().listen(0, "127.0.0.1")
    await once(blocker, "listening")
    const { port } = blocker.address() as AddressInfo
    try {
      const { status, stderr, stdout } = await start("runMain", { HOST_URLS: `http://127.0.0.1:${port}` }).ended
      assert.strictEqual(status, 1)
      expect(stderr.replace(`${port}`, "PORT")).toMatchInlineSnapshot(`
        "Cannot listen on http://127.0.0.1:PORT: the address is already in use; stop what listens there, or choose another in host:urls
        "
      `)
      assert.deepStrictEqual(messagesOf(stdout), ["the service is there", "the service is released"])
    } finally {
      blocker.close()
    }
  })
})

describe("the credentials example as a process", () => {
  it("ends with 1 for configuration errors, and tells all of them on standard error", async () => {
    const { status, stderr, stdout } = await NodeProcess.start("examples/credentials/src/main.ts", {
      directory: "examples/credentials",
      environment: {
        HOST_URLS: "ftp://x",
        HOST_MAXREQUESTSIZE: "huge",
        SECRETSTORE_TOTPPERIODINSECONDS: "-1"
      }
    }).ended
    assert.deepStrictEqual([status, stdout], [1, []])
    expect(stderr).toMatchInlineSnapshot(`
      "3 configuration errors:
        host:urls: ftp://x is not a URL of the form http://host:port
            from environment variable HOST_URLS (plugin layerhost/host)
        host:maxRequestSize: expected a number, found "huge"
            from environment variable HOST_MAXREQUESTSIZE (plugin layerhost/host)
        secretstore:totpPeriodInSeconds: expected a value between 1 and 86400, found "-1"
            from environment variable SECRETSTORE_TOTPPERIODINSECONDS (plugin layerhost/secret-store)
      "
    `)
  })
})
