/** Whether all peers answer the same, before anything is measured. */
import * as assert from "node:assert/strict"
import * as http from "node:http"
import * as zlib from "node:zlib"
import type { Peer } from "./peers.ts"
import { allowedOrigin } from "./peers/service.ts"
import type { Server } from "./processes.ts"
import { headersOf, type Workload } from "./workloads.ts"

interface Answer {
  readonly status: number | undefined
  readonly headers: http.IncomingHttpHeaders
  readonly body: Buffer
}

const requestId = "same-1"

const ask = (port: number, workload: Workload): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { method, path, body } = workload
    const headers = { ...headersOf(workload), "x-request-id": requestId }
    http
      .request({ host: "127.0.0.1", port, method, path, headers, agent: false }, async (response) => {
        const body = Buffer.concat(await response.toArray())
        resolve({ status: response.statusCode, headers: response.headers, body })
      })
      .on("error", reject)
      .end(body)
  })

/** Fails with what is different in a peer's answer. */
export const checkAnswer = async (server: Server, peer: Peer, workload: Workload): Promise<void> => {
  const { status, headers, body } = await ask(server.port, workload)
  const where = `${peer.name}, ${workload.name}`
  assert.equal(status, workload.status, where)
  if (peer.full) {
    assert.equal(headers["access-control-allow-origin"], allowedOrigin, where)
    assert.equal(headers["x-request-id"], requestId, where)
    assert.ok("x-rate-limit-remaining" in headers || "x-ratelimit-remaining" in headers, `${where}: no rate limit`)
  }
  if (workload.name in peer.less && workload.status !== 200) return
  assert.match(headers["content-type"] ?? "", /^application\/(problem\+)?json/, where)
  const isCompressed = workload.name === "W3" && !(workload.name in peer.less)
  assert.equal(headers["content-encoding"], isCompressed ? "br" : undefined, where)
  const text = isCompressed ? zlib.brotliDecompressSync(body) : body
  assert.deepEqual(workload.essence(JSON.parse(text.toString())), workload.expected, where)
}
