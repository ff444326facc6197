import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Result from "effect/Result"
import { existsSync, linkSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import * as http from "node:http"
import * as net from "node:net"
import { vi } from "vitest"
import { HostConfig } from "../../../src/Host/Configuration/HostConfig.ts"
import * as Listener from "../../../src/Host/Http/Listener.ts"
import * as ListenUrl from "../../../src/Host/Http/ListenUrl.ts"
import { TlsConfig } from "../../../src/Host/Tls/TlsConfig.ts"
import * as TestHost from "../../../src/testing/TestHost.ts"
import { things } from "./support/things.ts"

const hasIpv6 = await new Promise<boolean>((resolve) => {
  const server = net.createServer()
  server.on("error", () => resolve(false))
  server.listen(0, "::1", () => server.close(() => resolve(true)))
})

const listen = Effect.fnUntraced(
  function* (urls: string) {
    const host = yield* HostConfig
    const hello: Listener.Served = {
      httpEffect: Effect.succeed(HttpServerResponse.text("hello")),
      direct: (_services, _scope, platform) => platform.serve
    }
    const bound = yield* Listener.listen(Result.getOrThrow(ListenUrl.parseList(urls)), hello, {
      ...host,
      shutdownTimeout: Duration.seconds(10),
      tls: yield* TlsConfig
    })
    return bound.map(Listener.formatAddress)
  },
  Effect.provide([HostConfig.layer(), TlsConfig.layer(), NodeFileSystem.layer])
)

const get = (url: string) => Effect.promise(async () => (await fetch(url)).text())

const portOf = (url: string) => Number(new URL(url).port)

/** The path of a unix socket in a directory of its own. */
const socketPath = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  return `${yield* fs.makeTempDirectoryScoped()}/host.sock`
}).pipe(Effect.provide(NodeFileSystem.layer))

/** The answer of a unix socket; absent where nothing listens. */
const getFrom = (socketPath: string) =>
  Effect.callback<string | undefined>((resume) => {
    const request = http.get({ socketPath, path: "/" }, (response) => {
      let text = ""
      response.on("data", (data: Buffer) => {
        text += data.toString()
      })
      response.on("end", () => resume(Effect.succeed(text)))
    })
    request.on("error", () => resume(Effect.undefined))
  })

describe("Listener", () => {
  it.effect("picks a free port for 0, and tells it", () =>
    Effect.gen(function* () {
      const [url] = yield* listen("http://127.0.0.1:0")
      assert.isAbove(portOf(url!), 0)
      assert.strictEqual(yield* get(url!), "hello")
    })
  )

  it.effect("listens on several URLs at once", () =>
    Effect.gen(function* () {
      const urls = yield* listen("http://127.0.0.1:0,http://127.0.0.1:0/,http://127.0.0.1:0")
      assert.strictEqual(new Set(urls).size, 3)
      for (const url of urls) assert.strictEqual(yield* get(url), "hello")
    })
  )

  it.effect.skipIf(!hasIpv6)("listens on both loopbacks for localhost, on one port", () =>
    Effect.gen(function* () {
      const urls = yield* listen("http://localhost:0")
      const port = portOf(urls[0]!)
      assert.deepStrictEqual(urls, [`http://127.0.0.1:${port}`, `http://[::1]:${port}`])
      for (const url of urls) assert.strictEqual(yield* get(url), "hello")
    })
  )

  it.effect.each(["+", "*", "some-name.example"])("listens on all interfaces for %s", (name) =>
    Effect.gen(function* () {
      const [url] = yield* listen(`http://${name}:0`)
      const port = portOf(url!)
      assert.strictEqual(yield* get(`http://127.0.0.1:${port}`), "hello")
      if (hasIpv6) assert.strictEqual(yield* get(`http://[::1]:${port}`), "hello")
    })
  )

  it.effect("listens on a unix socket, which is gone afterwards", () =>
    Effect.gen(function* () {
      const path = yield* socketPath
      yield* Effect.scoped(
        Effect.gen(function* () {
          const [address] = yield* listen(`http://unix:${path}`)
          assert.include(address, path)
          assert.strictEqual(yield* getFrom(path), "hello")
        })
      )
      assert.isFalse(existsSync(path))
    })
  )

  it.effect("names the URL that is taken, and listens nowhere then", () =>
    Effect.gen(function* () {
      const [taken] = yield* listen("http://127.0.0.1:0")
      const path = yield* socketPath
      const error = yield* Effect.flip(listen(`http://unix:${path},${taken}`))
      assert.instanceOf(error, Listener.ListenError)
      assert.strictEqual(
        error.message,
        `Cannot listen on ${taken}: the address is already in use; stop what listens there, or choose another in host:urls`
      )
      // The scope of this test is still open: the first listener is gone because the second failed.
      assert.isFalse(existsSync(path))
    })
  )

  it.effect.each([
    ["http://192.0.2.1:0", "the address is not one of this machine; choose one that is in host:urls, or + for all"],
    [
      "http://unix:/does/not/exist/host.sock",
      "its directory does not exist, or is not this process's to use; choose another path in host:urls"
    ]
  ])("says why it cannot listen on %s", ([url, reason]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(listen(url!))
      assert.strictEqual(error.message, `Cannot listen on ${url}: ${reason}`)
    })
  )
})

describe("a unix socket", () => {
  /** Leaves the file of a socket as a process does that is killed. */
  const leave = (path: string) =>
    Effect.callback<void>((resume) => {
      const server = net.createServer()
      server.listen(`${path}.living`, () => {
        linkSync(`${path}.living`, path)
        server.close(() => resume(Effect.void))
      })
    })

  it.effect("that a killed process left is taken over", () =>
    Effect.gen(function* () {
      const path = yield* socketPath
      yield* leave(path)
      assert.isTrue(existsSync(path))
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* listen(`http://unix:${path}`)
          assert.strictEqual(yield* getFrom(path), "hello")
        })
      )
      assert.isFalse(existsSync(path))
    })
  )

  it.effect("that another listens on is left to it, and so is any other file", () =>
    Effect.gen(function* () {
      const path = yield* socketPath
      const reason = "another process listens there, or the file is no socket; choose another path in host:urls"
      yield* listen(`http://unix:${path}`)
      const taken = yield* Effect.flip(listen(`http://unix:${path}`))
      assert.strictEqual(taken.message, `Cannot listen on http://unix:${path}: ${reason}`)
      assert.strictEqual(yield* getFrom(path), "hello")
      const file = `${path}.txt`
      writeFileSync(file, "mine")
      assert.include((yield* Effect.flip(listen(`http://unix:${file}`))).message, reason)
      assert.strictEqual(readFileSync(file, "utf8"), "mine")
      const dead = `${path}.dead`
      yield* leave(dead)
      symlinkSync(dead, `${path}.link`)
      assert.include((yield* Effect.flip(listen(`http://unix:${path}.link`))).message, reason)
      assert.isTrue(existsSync(dead))
    })
  )
})

describe("localhost:0", () => {
  /** Takes the port on the other loopback just before the listener does, so many times. */
  const takeFirst = (times: number) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const takers: Array<net.Server> = []
        const original = net.Server.prototype.listen
        const spy = vi.spyOn(net.Server.prototype, "listen").mockImplementation(function (this: net.Server, ...args) {
          const [options] = args as unknown as [net.ListenOptions]
          if (options.host !== "::1" || takers.length === times) return Reflect.apply(original, this, args)
          const taker = net.createServer()
          takers.push(taker)
          Reflect.apply(original, taker, [options, () => Reflect.apply(original, this, args)])
          return this
        })
        return { spy, takers }
      }),
      ({ spy, takers }) =>
        Effect.sync(() => {
          spy.mockRestore()
          for (const taker of takers) taker.close()
        })
    )

  it.effect.skipIf(!hasIpv6)("tries another port where the one of the first loopback is taken on the second", () =>
    Effect.gen(function* () {
      const { takers } = yield* takeFirst(3)
      const urls = yield* listen("http://localhost:0")
      assert.lengthOf(takers, 3)
      const port = portOf(urls[0]!)
      assert.deepStrictEqual(urls, [`http://127.0.0.1:${port}`, `http://[::1]:${port}`])
      for (const url of urls) assert.strictEqual(yield* get(url), "hello")
    })
  )

  it.effect.skipIf(!hasIpv6)("gives up in the end, and listens nowhere", () =>
    Effect.gen(function* () {
      yield* takeFirst(Infinity)
      const error = yield* Effect.flip(listen("http://localhost:0"))
      assert.strictEqual(
        error.message,
        "Cannot listen on http://localhost:0: the address is already in use; stop what listens there, or choose another in host:urls"
      )
    })
  )
})

describe("a host", () => {
  it.effect("listens on all of host:urls, and says where", () =>
    Effect.gen(function* () {
      const { host, log } = yield* TestHost.make([things], {
        config: { "host:urls": "http://127.0.0.1:0, http://127.0.0.1:0" }
      })
      const { addresses } = yield* host.listen
      assert.lengthOf(addresses, 2)
      assert.include(yield* log.messages("layerhost.host"), `Listening on ${addresses.join(", ")}`)
      for (const address of addresses) assert.strictEqual(yield* get(`${address}/text`), "plain")
    })
  )

  it.effect("sends no Server header", () =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things], { listen: true })
      const { headers } = yield* request("/text")
      assert.isNull(headers.get("server"))
      assert.isNull(headers.get("x-powered-by"))
    })
  )
})
