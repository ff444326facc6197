import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Headers from "effect/http/Headers"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Option from "effect/Option"
import { createServer, request as send } from "node:http"
import { mkdtempSync, rmSync } from "node:fs"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as ForwardedHeaders from "../../../src/Host/ForwardedHeaders/ForwardedHeaders.ts"
import { ForwardedHeadersConfig } from "../../../src/Host/ForwardedHeaders/ForwardedHeadersConfig.ts"
import { textOf } from "./support.ts"
import * as Peer from "../../../src/Host/ForwardedHeaders/Peer.ts"

type Config = Partial<ForwardedHeadersConfig["Service"]>

const rules = (config: Config) => ForwardedHeaders.make({ headers: "x-forwarded", ...config })

/** A request that came from an address; from none when it came in memory. */
const requestFrom = (address: string | undefined, headers: Readonly<Record<string, string>>) =>
  HttpServerRequest.fromWeb(new Request("http://transport.test/path")).modify({
    remoteAddress: Option.fromUndefinedOr(address),
    headers: Headers.fromInput({ host: "transport.test", ...headers })
  })

const ends = (config: Config, address: string | undefined, headers: Readonly<Record<string, string>>) => {
  const { clientAddress, host, scheme } = rules(config).endsOf(requestFrom(address, headers))
  return `${clientAddress} ${scheme} ${host}`
}

const anyHeader = textOf([
  ...'",;=\\[]:. %_\t\u00e9\u0000',
  "for=",
  "proto=https",
  "host=",
  "10.0.0.1",
  "6.6.6.6",
  "::1",
  "unknown",
  "shop.test"
])

const xff = (entries: string) => ({ "x-forwarded-for": entries })

describe("when everybody is trusted", () => {
  it.each<[Record<string, string>, string]>([
    [{}, "192.0.2.1 http transport.test"],
    [xff("198.51.100.7"), "198.51.100.7 http transport.test"],
    [xff("198.51.100.7, 10.0.0.1, 10.0.0.2"), "198.51.100.7 http transport.test"],
    [xff("198.51.100.7:4711"), "198.51.100.7 http transport.test"],
    [xff("[2001:db8::7]:4711, 10.0.0.1"), "2001:db8::7 http transport.test"],
    [xff("2001:DB8::7"), "2001:db8::7 http transport.test"],
    [xff("::ffff:198.51.100.7"), "198.51.100.7 http transport.test"],
    // What names no client is passed over.
    [xff("unknown, 198.51.100.7"), "198.51.100.7 http transport.test"],
    [xff("_hidden, ,198.51.100.7"), "198.51.100.7 http transport.test"],
    [xff("unknown"), "192.0.2.1 http transport.test"],
    [xff(""), "192.0.2.1 http transport.test"],
    [xff(",,,"), "192.0.2.1 http transport.test"],
    [{ "x-forwarded-proto": "https" }, "192.0.2.1 https transport.test"],
    [{ "x-forwarded-proto": "HTTPS, http" }, "192.0.2.1 https transport.test"],
    [{ "x-forwarded-proto": "gopher" }, "192.0.2.1 http transport.test"],
    [{ "x-forwarded-host": "shop.test" }, "192.0.2.1 http shop.test"],
    [{ "x-forwarded-host": "shop.test:8443, inner.test" }, "192.0.2.1 http shop.test:8443"],
    [{ "x-forwarded-host": "[2001:db8::1]:80" }, "192.0.2.1 http [2001:db8::1]:80"],
    [{ "x-forwarded-host": "user@shop.test" }, "192.0.2.1 http transport.test"],
    [{ "x-forwarded-host": "shop.test/path" }, "192.0.2.1 http transport.test"],
    [{ "x-forwarded-host": "shop.test:99999" }, "192.0.2.1 http transport.test"],
    // The other family does not count.
    [{ forwarded: "for=198.51.100.7;proto=https;host=shop.test" }, "192.0.2.1 http transport.test"]
  ])("%j gives %s", (headers, expected) => {
    assert.strictEqual(ends({}, "192.0.2.1", headers), expected)
  })

  it("gives the addresses of connections one spelling, too", () => {
    assert.strictEqual(ends({}, "::ffff:192.0.2.1", {}), "192.0.2.1 http transport.test")
    assert.strictEqual(ends({}, undefined, {}), "undefined http transport.test")
  })
})

describe("when some proxies are trusted", () => {
  const trustedProxies = ["10.0.0.0/8", "2001:db8:a::/48"]

  it.each<[string | undefined, Record<string, string>, string]>([
    // From outside, nothing counts.
    ["192.0.2.1", xff("198.51.100.7"), "192.0.2.1 http transport.test"],
    ["192.0.2.1", { "x-forwarded-proto": "https", "x-forwarded-host": "shop.test" }, "192.0.2.1 http transport.test"],
    // The first untrusted address from the right is the client.
    ["10.0.0.1", xff("198.51.100.7"), "198.51.100.7 http transport.test"],
    ["10.0.0.1", xff("6.6.6.6, 198.51.100.7"), "198.51.100.7 http transport.test"],
    ["10.0.0.1", xff("6.6.6.6, 198.51.100.7, 10.0.0.2"), "198.51.100.7 http transport.test"],
    ["10.0.0.1", xff("6.6.6.6,198.51.100.7:99 ,[2001:db8:a::2]:1, 10.0.0.2:80"), "198.51.100.7 http transport.test"],
    ["::ffff:10.0.0.1", xff("198.51.100.7"), "198.51.100.7 http transport.test"],
    ["2001:db8:a::1", xff("2001:db8:b::1"), "2001:db8:b::1 http transport.test"],
    // All of them are proxies: the farthest is the client.
    ["10.0.0.1", xff("10.0.0.3, 10.0.0.2"), "10.0.0.3 http transport.test"],
    ["10.0.0.1", {}, "10.0.0.1 http transport.test"],
    // What is no address ends the walk at the last proxy before it.
    ["10.0.0.1", xff("198.51.100.7, unknown, 10.0.0.2"), "10.0.0.2 http transport.test"],
    ["10.0.0.1", xff("198.51.100.7, _hidden"), "10.0.0.1 http transport.test"],
    ["10.0.0.1", xff("198.51.100.7,,"), "198.51.100.7 http transport.test"],
    // In memory, as from a unix socket.
    [undefined, xff("198.51.100.7"), "198.51.100.7 http transport.test"],
    // Scheme and host come from the proxy that met the client.
    ["10.0.0.1", { "x-forwarded-proto": "https" }, "10.0.0.1 https transport.test"],
    ["10.0.0.1", { ...xff("198.51.100.7"), "x-forwarded-proto": "gopher, https" }, "198.51.100.7 https transport.test"],
    [
      "10.0.0.1",
      { ...xff("6.6.6.6, 198.51.100.7, 10.0.0.2"), "x-forwarded-proto": "ftp, https, http" },
      "198.51.100.7 https transport.test"
    ],
    [
      "10.0.0.1",
      { ...xff("198.51.100.7, 10.0.0.2"), "x-forwarded-host": "shop.test", "x-forwarded-proto": "https" },
      "198.51.100.7 https shop.test"
    ],
    ["10.0.0.1", { ...xff("198.51.100.7"), "x-forwarded-host": "evil.test, shop.test" }, "198.51.100.7 http shop.test"]
  ])("from %s, %j gives %s", (address, headers, expected) => {
    assert.strictEqual(ends({ trustedProxies }, address, headers), expected)
  })

  it("believes no one with an empty list", () => {
    const headers = { ...xff("198.51.100.7"), "x-forwarded-proto": "https", "x-forwarded-host": "shop.test" }
    assert.strictEqual(ends({ trustedProxies: [] }, "10.0.0.1", headers), "10.0.0.1 http transport.test")
    assert.strictEqual(ends({ trustedProxies: [] }, undefined, headers), "undefined http transport.test")
  })

  it.prop(
    "finds no client left of the first untrusted address, whatever stands there",
    { claim: anyHeader },
    ({ claim }) => {
      assert.match(ends({ trustedProxies }, "10.0.0.1", xff(`${claim}, 198.51.100.7, 10.0.0.2`)), /^198\.51\.100\.7 /)
    }
  )
})

describe("Forwarded of RFC 7239", () => {
  const config = { headers: "forwarded", trustedProxies: ["10.0.0.0/8"] } as const

  it.each([
    ["for=198.51.100.7", "198.51.100.7 http transport.test"],
    ["For=198.51.100.7;Proto=HTTPS;Host=shop.test;by=10.0.0.1", "198.51.100.7 https shop.test"],
    ['for="[2001:db8:cafe::17]:4711"', "2001:db8:cafe::17 http transport.test"],
    ['for="198.51.100.7:4711" ; host="shop.test:8443"', "198.51.100.7 http shop.test:8443"],
    ['for="198.51\\.100.7"', "198.51.100.7 http transport.test"],
    [
      "for=6.6.6.6;proto=gopher, for=198.51.100.7;proto=https, for=10.0.0.2;proto=http",
      "198.51.100.7 https transport.test"
    ],
    ["for=198.51.100.7;proto=https, for=10.0.0.2", "198.51.100.7 https transport.test"],
    ["for=198.51.100.7, for=unknown", "10.0.0.1 http transport.test"],
    ["for=198.51.100.7, for=_hidden;proto=https", "10.0.0.1 https transport.test"],
    ["proto=https", "10.0.0.1 https transport.test"],
    ["for=198.51.100.7;secret=value;;", "198.51.100.7 http transport.test"],
    // What breaks the grammar says nothing.
    ['for="6.6.6.6, for=198.51.100.7', "10.0.0.1 http transport.test"],
    ['for=6.6.6.6;by=", for="[2001:db8::1]";by="x"', "10.0.0.1 http transport.test"],
    ["for", "10.0.0.1 http transport.test"],
    ["for 198.51.100.7", "10.0.0.1 http transport.test"],
    ["__proto__=1;constructor=2", "10.0.0.1 http transport.test"],
    ["", "10.0.0.1 http transport.test"]
  ])("%s gives %s", (forwarded, expected) => {
    assert.strictEqual(ends(config, "10.0.0.1", { forwarded, "x-forwarded-for": "6.6.6.6" }), expected)
  })

  it("is believed from everybody by default", () => {
    const forwarded = 'for=unknown;host=shop.test, for="198.51.100.7:1";proto=http'
    assert.strictEqual(ends({ headers: "forwarded" }, "192.0.2.1", { forwarded }), "198.51.100.7 http shop.test")
  })
})

describe("any header", () => {
  const names = ["x-forwarded-for", "x-forwarded-proto", "x-forwarded-host", "forwarded"]

  describe.each([
    {},
    { trustedProxies: ["10.0.0.0/8"] },
    { headers: "forwarded" },
    { headers: "forwarded", trustedProxies: ["10.0.0.0/8"] }
  ] as ReadonlyArray<Config>)("with %j", (config) => {
    const { endsOf } = rules(config)
    it.prop("is taken", [anyHeader, anyHeader, anyHeader, anyHeader], (values) => {
      const headers = Object.fromEntries(names.map((name, i) => [name, values[i]!]))
      const { clientAddress, host, scheme } = endsOf(requestFrom("10.0.0.9", headers))
      assert.isString(clientAddress)
      assert.isTrue(scheme === "http" || scheme === "https")
      assert.isTrue(URL.canParse(`${scheme}://${host}`), host)
    })
  })

  it("of 16 kB costs no time to speak of", () => {
    for (const text of [
      "(".repeat(16_000),
      '"\\'.repeat(8_000),
      " ".repeat(16_000),
      "for=".repeat(4_000),
      "1,".repeat(8_000)
    ]) {
      const start = performance.now()
      for (const headers of ["x-forwarded", "forwarded"] as const) {
        ends(
          { headers, trustedProxies: ["10.0.0.0/8"] },
          "10.0.0.1",
          Object.fromEntries(names.map((name) => [name, text]))
        )
      }
      assert.isBelow(performance.now() - start, 500)
    }
  })
})

describe("the request", () => {
  it("gets its ends, and keeps the peer", () => {
    const request = requestFrom("::ffff:10.0.0.1", {
      ...xff("198.51.100.7"),
      "x-forwarded-proto": "https",
      "x-forwarded-host": "shop.test"
    })
    const applied = ForwardedHeaders.apply(request, rules({}).endsOf(request))
    assert.deepStrictEqual(applied.remoteAddress, Option.some("198.51.100.7"))
    assert.deepStrictEqual(applied.peerAddress, Option.some("::ffff:10.0.0.1"))
    assert.strictEqual(Option.getOrThrow(HttpServerRequest.toURL(applied)).href, "https://shop.test/path")
  })

  it("without forwarded headers stays what it was", () => {
    const request = requestFrom(undefined, {})
    const applied = ForwardedHeaders.apply(request, rules({}).endsOf(request))
    assert.isTrue(Option.isNone(applied.remoteAddress))
    assert.strictEqual(Option.getOrThrow(HttpServerRequest.toURL(applied)).href, "http://transport.test/path")
  })
})

describe("over a socket", () => {
  /** A server that answers with the ends of the request; it has one to listen on, a path or a port. */
  const serve = Effect.fnUntraced(function* (config: Config, path?: string) {
    const { endsOf } = rules(config)
    const app = HttpServerRequest.HttpServerRequest.use((request) => {
      const { clientAddress, scheme } = endsOf(request)
      return Effect.succeed(HttpServerResponse.text(`${clientAddress} ${scheme}`))
    })
    const server = createServer()
    if (path !== undefined) server.on("connection", Peer.noteUnixSocket)
    const http = yield* NodeHttpServer.make(
      () => server,
      path === undefined ? { port: 0, host: "127.0.0.1" } : { path }
    )
    yield* http.serve(app)
    return path === undefined ? { port: (server.address() as AddressInfo).port } : { socketPath: path }
  })

  const ask = (to: { readonly port?: number; readonly socketPath?: string }) =>
    Effect.callback<string>((resume) => {
      send({ ...to, headers: xff("198.51.100.7"), agent: false }, (response) => {
        response.setEncoding("utf8").on("data", (text: string) => resume(Effect.succeed(text)))
      }).end()
    })

  it.effect.each([
    [{}, "198.51.100.7 http"],
    [{ trustedProxies: ["127.0.0.1"] }, "198.51.100.7 http"],
    [{ trustedProxies: ["10.0.0.0/8"] }, "127.0.0.1 http"]
  ] as ReadonlyArray<[Config, string]>)("with %j, the client is %s", ([config, expected]) =>
    Effect.gen(function* () {
      assert.strictEqual(yield* ask(yield* serve(config)), expected)
    })
  )

  it.effect("a unix socket is trusted", () =>
    Effect.gen(function* () {
      const directory = yield* Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "layerhost-"))),
        (directory) => Effect.sync(() => rmSync(directory, { recursive: true }))
      )
      const to = yield* serve({ trustedProxies: ["10.0.0.0/8"] }, join(directory, "a.sock"))
      assert.strictEqual(yield* ask(to), "198.51.100.7 http")
    })
  )
})

describe("the section", () => {
  it.effect("trusts everybody by default, and tells networks from what is none", () =>
    Effect.gen(function* () {
      const read = (input: object) =>
        Effect.provide(ForwardedHeadersConfig, ForwardedHeadersConfig.layer(input as Record<string, never>))
      assert.deepStrictEqual({ ...(yield* read({})) }, { headers: "x-forwarded" })
      const error = yield* Effect.flip(read({ trustedProxies: ["10.0.0.0/8", "10.0.0.0/80", "proxy"] }))
      assert.match(error.message, /10\.0\.0\.0\/80: the length.*proxy is not an address or a CIDR/s)
    })
  )

  it.each<[Config, RegExp]>([
    [{}, /^Everybody is trusted.*X-Forwarded-For.*trustedProxies narrows/],
    [{ headers: "forwarded" }, /first entry of Forwarded is/],
    [{ trustedProxies: ["10.0.0.0/8", "::1"] }, /^Only unix sockets and 10\.0\.0\.0\/8, ::1 are trusted/],
    [{ trustedProxies: [] }, /^Nobody is trusted/]
  ])("%j is told at start", (config, expected) => {
    assert.match(rules(config).description, expected)
  })
})
