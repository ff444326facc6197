import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import * as ListenUrl from "../../../src/Host/Http/ListenUrl.ts"

const tcp = (host: string | undefined, port: number) => ({ _tag: "Tcp" as const, host, port })
const unix = (path: string) => ({ _tag: "Unix" as const, path })
const loopbacks = (port: number) => [tcp("127.0.0.1", port), tcp("::1", port)]

describe("ListenUrl.parse", () => {
  it.each<[string, ReadonlyArray<ListenUrl.ListenAddress>]>([
    ["http://+:8080", [tcp(undefined, 8080)]],
    ["http://*:8080", [tcp(undefined, 8080)]],
    ["http://+:8080/", [tcp(undefined, 8080)]],
    ["http://+", [tcp(undefined, 80)]],
    ["http://+:0", [tcp(undefined, 0)]],
    ["http://+:65535", [tcp(undefined, 65535)]],
    ["HTTP://+:80", [tcp(undefined, 80)]],
    ["http://example.com:5000", [tcp(undefined, 5000)]],
    ["http://some_container:5000", [tcp(undefined, 5000)]],
    ["http://0.0.0.0:5000", [tcp("0.0.0.0", 5000)]],
    ["http://127.0.0.1:5000", [tcp("127.0.0.1", 5000)]],
    ["http://[::]:5000", [tcp("::", 5000)]],
    ["http://[::1]:5000/", [tcp("::1", 5000)]],
    ["http://localhost:5000", loopbacks(5000)],
    ["http://LocalHost:0", loopbacks(0)],
    ["http://localhost", loopbacks(80)],
    ["http://unix:/run/app.sock", [unix("/run/app.sock")]],
    ["HTTP://UNIX:/run/App.sock", [unix("/run/App.sock")]],
    ["http://unix:/run/with space:and-colon.sock", [unix("/run/with space:and-colon.sock")]]
  ])("reads %s", (url, addresses) => {
    assert.deepStrictEqual(ListenUrl.parse(url), Result.succeed({ url, isSecure: false, addresses }))
  })

  it.each([
    ["https://+:8443", [tcp(undefined, 8443)]],
    ["HTTPS://localhost", loopbacks(443)]
  ])("reads %s, which speaks TLS", (url, addresses) => {
    assert.deepStrictEqual(ListenUrl.parse(url), Result.succeed({ url, isSecure: true, addresses }))
  })

  it.each([
    ["", "form"],
    ["+:8080", "form"],
    ["localhost:8080", "form"],
    ["ftp://+:8080", "form"],
    ["//+:8080", "form"],
    ["http:+:8080", "form"],
    [" http://+:8080", "form"],
    ["http://", "no host"],
    ["http://:8080", "no host"],
    ["http://+:8080/path", "path"],
    ["http://+:8080//", "path"],
    ["http://+:8080?a=1", "path"],
    ["http://+:8080#a", "path"],
    ["http://+:port", "path"],
    ["http://+:-1", "path"],
    ["http://+:65536", "65535"],
    ["http://+:99999999999999999999", "65535"],
    ["http://[::1:8080", "path"],
    ["http://[example.com]:8080", "IPv6"],
    ["http://[127.0.0.1]:8080", "IPv6"],
    ["http://unix:run/app.sock", "unix:/"],
    ["http://unix:/run/app.sock?a", "unix:/"],
    ["https://unix:/run/app.sock", "unix:/"]
  ])("refuses %j", (url, reason) => {
    const result = ListenUrl.parse(url)
    assert.isTrue(Result.isFailure(result))
    if (Result.isFailure(result)) {
      assert.include(result.failure, url)
      assert.include(result.failure, reason)
    }
  })
})

describe("ListenUrl.parseList", () => {
  it("reads several URLs with commas between, in their order", () => {
    const result = ListenUrl.parseList(" http://+:1 ,http://localhost:2,, http://unix:/a.sock,")
    assert.deepStrictEqual(
      Result.map(result, (urls) => urls.map(({ url }) => url)),
      Result.succeed(["http://+:1", "http://localhost:2", "http://unix:/a.sock"])
    )
  })

  it("lists everything that is wrong", () => {
    const result = ListenUrl.parseList("http://+:1,http://+:2/path,nonsense")
    assert.deepStrictEqual(
      Result.mapError(result, (failures) => failures.length),
      Result.fail(2)
    )
  })

  it.each(["", " ", ",", " , "])("refuses the empty list %j", (urls) => {
    assert.deepStrictEqual(ListenUrl.parseList(urls), Result.fail(["host:urls names no URL"]))
  })
})
