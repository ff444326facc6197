import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as Result from "effect/Result"
import { existsSync } from "node:fs"
import * as http from "node:http"
import * as net from "node:net"
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
    const hello = Effect.succeed(HttpServerResponse.text("hello"))
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
      assert.strictEqual(error.message, `Cannot listen on ${taken}: the address is already in use`)
      // The scope of this test is still open: the first listener is gone because the second failed.
      assert.isFalse(existsSync(path))
    })
  )

  it.effect.each([
    ["http://192.0.2.1:0", "the address is not one of this machine"],
    ["http://unix:/does/not/exist/host.sock", "its directory does not exist, or is not this process's to use"]
  ])("says why it cannot listen on %s", ([url, reason]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(listen(url!))
      assert.strictEqual(error.message, `Cannot listen on ${url}: ${reason}`)
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
