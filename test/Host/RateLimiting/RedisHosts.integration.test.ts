import { assert, describe, it } from "@effect/vitest"
import * as http from "node:http"
import { afterAll, beforeAll } from "vitest"
import * as NodeProcess from "../../support/NodeProcess.ts"
import * as RedisServer from "./RedisServer.ts"

/** What a request is answered with, whether it was counted, and how long it took in milliseconds. */
interface Outcome {
  readonly status: number | string
  readonly isCounted: boolean
  readonly millis: number
}

const request = (url: string, agent: http.Agent) =>
  new Promise<Outcome>((resolve) => {
    const before = performance.now()
    const settle = (status: number | string, isCounted: boolean) =>
      resolve({ status, isCounted, millis: performance.now() - before })
    http
      .get(url, { agent }, (response) => {
        response.resume()
        response.on("end", () => settle(response.statusCode!, response.headers["x-rate-limit-limit"] !== undefined))
      })
      .on("error", (error: NodeJS.ErrnoException) => settle(error.code ?? error.message, false))
  })

/** How long a request waits for Redis, in milliseconds. */
const timeout = 400

/** How much later a request may be on a busy machine, in milliseconds. */
const lateness = 1_000

describe.skipIf(!RedisServer.isInstalled)("three hosts that share a Redis", () => {
  let redis: RedisServer.RedisServer
  let hosts: ReadonlyArray<NodeProcess.NodeProcess> = []
  let urls: ReadonlyArray<string>
  const agent = new http.Agent({ keepAlive: true })

  beforeAll(async () => {
    redis = await RedisServer.make()
    await redis.start()
    const rule = (index: number, endpoint: string, limit: number) => ({
      [`IPRATELIMITING__GENERALRULES__${index}__ENDPOINT`]: endpoint,
      [`IPRATELIMITING__GENERALRULES__${index}__PERIOD`]: "1h",
      [`IPRATELIMITING__GENERALRULES__${index}__LIMIT`]: String(limit)
    })
    hosts = Array.from({ length: 3 }, () =>
      NodeProcess.start("test/Host/fixtures/busy.ts", {
        environment: {
          LOGGING_FORMAT: "json",
          IPRATELIMITING__STORE: "redis",
          IPRATELIMITING__ENABLEENDPOINTRATELIMITING: "true",
          ...rule(0, "get:/quick", 500),
          ...rule(1, "get:/changes", 1_000_000),
          IPRATELIMITING__REDIS__URL: redis.url,
          IPRATELIMITING__REDIS__TIMEOUT: `${timeout}ms`
        }
      })
    )
    urls = await Promise.all(hosts.map(async (host) => (await host.waitFor(/Listening on (http:[^",]+)/))[1]!))
  })
  afterAll(async () => {
    agent.destroy()
    for (const host of hosts) host.signal("SIGKILL")
    await Promise.all(hosts.map(({ ended }) => ended))
    await redis.release()
  })

  it("keep one limit between them, exactly", async () => {
    const clients = urls.flatMap((url) =>
      Array.from({ length: 5 }, async () => {
        const statuses: Array<number | string> = []
        for (let i = 0; i < 50; i++) statuses.push((await request(`${url}/quick`, agent)).status)
        return statuses
      })
    )
    const statuses = (await Promise.all(clients)).flat()
    assert.strictEqual(statuses.filter((status) => status === 200).length, 500)
    assert.strictEqual(statuses.filter((status) => status === 429).length, 250)
  })

  it("answer every request while it is killed and comes back, in time, and count again", async () => {
    const outcomes: Array<Outcome> = []
    const ask = async (url: string) => {
      const outcome = await request(`${url}/changes`, agent)
      outcomes.push(outcome)
      return outcome
    }
    const load = new AbortController()
    const clients = urls.flatMap((url) =>
      Array.from({ length: 3 }, async () => {
        while (!load.signal.aborted) await ask(url)
      })
    )
    /** Waits until every host has answered so. */
    const until = async (isCounted: boolean) => {
      for (const url of urls) while ((await ask(url)).isCounted !== isCounted);
    }
    await until(true)
    await redis.kill()
    await until(false)
    await redis.start()
    await until(true)
    load.abort()
    await Promise.all(clients)
    assert.deepStrictEqual(new Set(outcomes.map(({ status }) => status)), new Set([200]))
    assert.isBelow(Math.max(...outcomes.map(({ millis }) => millis)), timeout + lateness)
  })
})
