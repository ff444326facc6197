import { assert, describe, it } from "@effect/vitest"
import { once } from "node:events"
import * as net from "node:net"
import { afterAll, beforeAll } from "vitest"
import { gzipSync } from "node:zlib"
import * as Campaign from "../../support/Campaign.ts"
import * as NodeProcess from "../../support/NodeProcess.ts"

const mega = 2 ** 20

/** How much the memory of the process may grow, in bytes: some bodies of the largest size, and what is not yet collected. */
const budget = 400 * mega

/** How long others may wait for an answer, in milliseconds, on a busy machine. */
const patience = 5_000

/** What came on a connection until it was closed, and how that was. */
interface Answer {
  readonly text: string
  readonly error: string | undefined
}

describe("a host under attack", () => {
  let service: NodeProcess.NodeProcess
  let url: string
  let port: number
  let before: number

  const get = async (path: string): Promise<string> =>
    (await fetch(`${url}${path}`, { signal: AbortSignal.timeout(patience) })).text()

  const memory = async (): Promise<number> => Number(await get("/memory"))

  /** Others are served, and the memory is within its bound. */
  const isWell = async () => {
    assert.strictEqual(await get("/quick"), "quick")
    const grown = (await memory()) - before
    assert.isBelow(grown, budget, `${Math.round(grown / mega)} MB`)
  }

  /** Opens a connection, lets it send, and gives what came. */
  const send = (write: (socket: net.Socket) => void | Promise<void>): Promise<Answer> =>
    new Promise((resolve) => {
      const socket = net.connect({ port, host: "127.0.0.1", allowHalfOpen: true })
      let text = ""
      let error: string | undefined
      socket.setEncoding("latin1")
      socket.on("data", (data: string) => void (text += data))
      socket.on("end", () => socket.end())
      socket.on("error", (cause: NodeJS.ErrnoException) => void (error = cause.code))
      socket.on("close", () => resolve({ text, error }))
      socket.on("connect", () => void write(socket))
    })

  const statusOf = ({ text }: Answer): number => Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1])

  /** Writes as much as the connection takes, until all is sent or it is closed. */
  const pour = async (socket: net.Socket, piece: string | Buffer, times: number): Promise<number> => {
    let sent = 0
    while (sent < times && socket.writable) {
      sent++
      if (!socket.write(piece)) await Promise.race([once(socket, "drain"), once(socket, "close")]).catch(() => {})
    }
    return sent
  }

  beforeAll(async () => {
    service = NodeProcess.start("test/Host/fixtures/busy.ts", {
      environment: {
        LOGGING_FORMAT: "json",
        "LOGGING__OVERRIDE__layerhost.host.request": "Warning",
        HOST_HEADERSTIMEOUT: "2 seconds",
        HOST_REQUESTTIMEOUT: "3 seconds",
        HOST_KEEPALIVETIMEOUT: "2 seconds"
      }
    })
    url = (await service.waitFor(/Listening on (http:[^",]+)/))[1]!
    port = Number(new URL(url).port)
    await Promise.all(Array.from({ length: 200 }, () => get("/quick")))
    before = await memory()
  })
  afterAll(async () => {
    service.signal("SIGKILL")
    await service.ended
  })

  it("sends slow clients away, and serves others meanwhile", { timeout: Campaign.timeout }, async () => {
    const heads = [
      "GET /quick HTTP/1.1\r\nHost: a\r\nX-Slow: ",
      "POST /json HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n"
    ]
    let open = 0
    const attackers = Array.from({ length: Campaign.sized(2_000, 400) }, (_, i) =>
      send((socket) => {
        open++
        socket.write(heads[i % 2]!)
        const drip = setInterval(() => socket.write("x"), 200)
        socket.once("close", () => {
          open--
          clearInterval(drip)
        })
      })
    )
    let isOver = false
    const all = Promise.all(attackers).finally(() => void (isOver = true))
    let served = 0
    const servedUntil = async (): Promise<void> => {
      await isWell()
      served++
      return isOver ? undefined : servedUntil()
    }
    await servedUntil()
    // An answer may be lost to a client that goes on sending where it is sent away.
    for (const answer of await all) assert.isTrue(statusOf(answer) === 408 || answer.text === "", answer.text)
    assert.include((await all).map(statusOf), 408)
    assert.isAbove(served, 3)
    assert.strictEqual(open, 0)
  })

  it.each(["/json", "/stream", "/quick"])(
    "refuses a body without end early: %s",
    { timeout: Campaign.timeout },
    async (path) => {
      const piece = `10000\r\n${"x".repeat(65_536)}\r\n`
      const pieces = Campaign.sized(16_384, 3_200)
      let sent = 0
      const answer = await send(async (socket) => {
        socket.write(
          `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n`
        )
        sent = await pour(socket, piece, pieces)
      })
      assert.strictEqual(statusOf(answer), path === "/quick" ? 405 : 413)
      assert.isBelow(sent, pieces)
      await isWell()
    }
  )

  it("has its answer read by a client that does not read before it can send no more", async () => {
    const answer = await send(async (socket) => {
      socket.pause()
      socket.write("POST /json HTTP/1.1\r\nHost: a\r\nContent-Length: 20971520\r\n\r\n")
      // As much as the connection takes while nobody reads it; then the client looks what came.
      for (let i = 0; i < 320 && socket.write(Buffer.alloc(65_536)); i++);
      socket.resume()
    })
    assert.strictEqual(statusOf(answer), 413)
    assert.match(answer.text, /"status":413.*}$/)
  })

  it("bounds what compressed bodies become", { timeout: Campaign.timeout }, async () => {
    const bomb = gzipSync(Buffer.alloc(Campaign.sized(1_024, 128) * mega))
    const head = `POST /json HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: ${bomb.length}\r\n\r\n`
    const answers = await Promise.all(
      Array.from({ length: 10 }, () =>
        send((socket) => {
          socket.write(head)
          socket.write(bomb)
        })
      )
    )
    assert.deepStrictEqual(new Set(answers.map(statusOf)), new Set([413]))
    await isWell()
  })

  it.each([
    ["100 kB of headers", `X-A: ${"a".repeat(100_000)}\r\n`, 431],
    ["10,000 headers", Array.from({ length: 10_000 }, (_, i) => `A${i}: b\r\n`).join(""), 431],
    ["many short headers", "a:b\r\n".repeat(1_000), 431],
    ["a header without end", "X-A: ".padEnd(5 * mega, "a"), 431],
    ["a target of 100 kB", "", 431]
  ] as const)("refuses %s", async (what, headers, status) => {
    const target = what.startsWith("a target") ? `/${"a".repeat(100_000)}` : "/quick"
    const answers = await Promise.all(
      Array.from({ length: 50 }, () =>
        send((socket) => void socket.write(`GET ${target} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`))
      )
    )
    // Where much more was sent than is read, the connection may be reset.
    for (const answer of answers)
      assert.isTrue(statusOf(answer) === status || answer.text === "", answer.text.slice(0, 200))
    if (headers.length < mega) assert.include(answers.map(statusOf), status)
    await isWell()
  })

  it.each([
    ["a body", "POST /json", "Content-Type: application/json\r\nContent-Length: 4\r\n", '"\xff\xfe"', 400],
    ["a path", "GET /\xff\xfe", "", "", 400],
    ["a path in escapes", "GET /%ff%fe", "", "", 404],
    ["a header", "GET /quick", "X-Name: \xff\xfe\r\n", "", 200]
  ] as const)("has a clear answer to what is not UTF-8 in %s", async (_, start, headers, body, status) => {
    const answer = await send(
      (socket) =>
        void socket.write(`${start} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${headers}\r\n${body}`, "latin1")
    )
    assert.strictEqual(statusOf(answer), status)
    if (status >= 400) assert.include(answer.text, "application/problem+json")
  })

  it("answers clients that sent all and closed their side, and forgets those that broke off", async () => {
    const request = "GET /quick HTTP/1.1\r\nHost: a\r\n\r\n"
    assert.strictEqual((await send((socket) => void socket.end(request))).text.match(/quick/g)?.length, 1)
    // Those behind it may be given up, in their order: Node closes its side, too.
    const { text } = await send((socket) => void socket.end(request.repeat(100)))
    assert.match(text, /^(HTTP\/1\.1 200 OK\r\n(.+\r\n)+\r\nquick)+$/)
    const half = "POST /json HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n{"
    assert.strictEqual((await send((socket) => void socket.end(half))).text, "")
    assert.strictEqual(statusOf(await send((socket) => void socket.end("GET /quick HT"))), 400)
    await isWell()
  })

  it.each([
    ["waits for an answer", "GET /never HTTP/1.1\r\nHost: a\r\n\r\n", false],
    ["reads no answers", "", true]
  ] as const)(
    "holds back who sends requests while it %s",
    { timeout: Campaign.timeout },
    async (_, first, isPaused) => {
      const requests = "GET /quick HTTP/1.1\r\nHost: a\r\n\r\n".repeat(1_000)
      const sockets = Array.from({ length: Campaign.sized(20, 3) }, () => net.connect(port, "127.0.0.1"))
      const poured = Promise.all(
        sockets.map((socket) => {
          socket.on("error", () => {})
          if (isPaused) socket.pause()
          else socket.resume()
          socket.write(first)
          return pour(socket, requests, 10_000)
        })
      )
      for (let i = 0; i < 20; i++) await isWell()
      for (const socket of sockets) socket.destroy()
      for (const pieces of await poured) assert.isBelow(pieces, 10_000)
      await isWell()
    }
  )
})
