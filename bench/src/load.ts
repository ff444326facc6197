/**
 * The load, in a process of its own: requests over raw connections that are kept. A client that does more would be slower
 * than the servers. Work comes as messages, and results go back.
 */
import * as net from "node:net"
import { AnswerReader } from "./answers.ts"

/** Each connection sends its next request once it has its answer; `count` of them, or for some seconds. */
export interface Closed {
  readonly kind: "closed"
  readonly until: { readonly count: number } | { readonly seconds: number }
}

/** Requests begin at a fixed rate, whatever the answers do. */
export interface Open {
  readonly kind: "open"
  readonly rate: number
  readonly seconds: number
}

export interface Work {
  readonly port: number
  readonly connections: number
  /** In base64. */
  readonly request: string
  /** The status of every answer. */
  readonly status: number
  readonly load: Closed | Open
}

export interface Done {
  readonly count: number
  readonly seconds: number
  /** Milliseconds from when each request was due, of open loads. */
  readonly latencies: ReadonlyArray<number>
}

interface Connection {
  readonly send: (onAnswer: () => void) => void
  readonly close: () => void
}

const connect = (work: Work, request: Buffer, fail: (error: Error) => void): Promise<Connection> =>
  new Promise((resolve) => {
    const socket = net.connect(work.port, "127.0.0.1")
    let isClosing = false
    let onAnswer = () => {}
    const reader = new AnswerReader(({ status, head }) => {
      if (status === work.status) onAnswer()
      else fail(new Error(`expected ${work.status}, got ${head}`))
    })
    socket
      .setNoDelay(true)
      .on("data", (data: Buffer) => reader.read(data))
      .on("error", fail)
      .on("close", () => isClosing || fail(new Error("the server closed a connection")))
      .on("connect", () =>
        resolve({
          send: (then) => {
            onAnswer = then
            socket.write(request)
          },
          close: () => {
            isClosing = true
            socket.destroy()
          }
        })
      )
  })

const runClosed = (connections: ReadonlyArray<Connection>, until: Closed["until"]): Promise<Done> =>
  new Promise((resolve) => {
    const begun = performance.now()
    let [sent, count, waiting] = [0, 0, 0]
    const isOver = () => ("count" in until ? sent >= until.count : performance.now() - begun >= until.seconds * 1000)
    const next = (connection: Connection): void => {
      sent++
      waiting++
      connection.send(() => {
        count++
        waiting--
        if (!isOver()) next(connection)
        else if (waiting === 0) resolve({ count, seconds: (performance.now() - begun) / 1000, latencies: [] })
      })
    }
    connections.forEach(next)
  })

const runOpen = (connections: ReadonlyArray<Connection>, { rate, seconds }: Open): Promise<Done> =>
  new Promise((resolve) => {
    const total = rate * seconds
    const free = [...connections]
    const latencies: Array<number> = []
    const begun = performance.now()
    let sent = 0
    // Looks without a pause, since timers of a millisecond would be what is measured.
    const tick = (): void => {
      const due = Math.min(total, ((performance.now() - begun) / 1000) * rate)
      while (sent < due && free.length > 0) {
        const dueAt = begun + (sent++ / rate) * 1000
        const connection = free.pop()!
        connection.send(() => {
          latencies.push(performance.now() - dueAt)
          free.push(connection)
        })
      }
      if (latencies.length < total) setImmediate(tick)
      else resolve({ count: total, seconds: (performance.now() - begun) / 1000, latencies })
    }
    tick()
  })

const run = async (work: Work): Promise<Done> => {
  const request = Buffer.from(work.request, "base64")
  const { promise: failure, reject } = Promise.withResolvers<never>()
  const connecting = Promise.all(Array.from({ length: work.connections }, () => connect(work, request, reject)))
  const connections = await Promise.race([connecting, failure])
  const { load } = work
  const done = await Promise.race([
    load.kind === "closed" ? runClosed(connections, load.until) : runOpen(connections, load),
    failure
  ])
  for (const connection of connections) connection.close()
  return done
}

process.on("message", (work: Work) => {
  run(work).then(
    (done) => process.send!({ done }),
    (error: unknown) => process.send!({ error: String(error) })
  )
})
process.on("disconnect", () => process.exit())
