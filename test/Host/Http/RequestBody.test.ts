import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as YAML from "yaml"
import * as TestHost from "../../../src/testing/TestHost.ts"
import { bytes, hostileText, json } from "./support/arbitraries.ts"
import * as Connection from "./support/connection.ts"
import { things } from "./support/things.ts"

const limited = { config: { host: { urls: "http://127.0.0.1:0", maxRequestSize: 100 } } }

const post = (path: string, ...headers: ReadonlyArray<string>) =>
  `POST ${path} HTTP/1.1\r\nHost: test\r\n${headers.map((header) => `${header}\r\n`).join("")}\r\n`

const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`

const readers = ["/raw/json", "/raw/text", "/raw/size", "/raw/schema", "/echo", "/text", "/form"]
const typeOf = (path: string) =>
  path === "/text" ? "text/plain" : path === "/form" ? "application/x-www-form-urlencoded" : "application/json"

describe("the size of a body", () => {
  it.effect.each([...readers, "/unread"])("is told by Content-Length before anything is read: %s", (path) =>
    Effect.gen(function* () {
      const { url } = yield* TestHost.make([things], { ...limited, listen: true })
      const connection = yield* Connection.open(url)
      // Not one byte of the body is ever sent.
      yield* connection.send(post(path, `Content-Type: ${typeOf(path)}`, "Content-Length: 101"))
      const answer = yield* connection.closed
      assert.match(answer, /^HTTP\/1\.1 413 Payload Too Large\r\n/)
      assert.match(answer, /\r\nconnection: close\r\n/i)
      assert.include(answer, '"detail":"The body is larger than 100 bytes."')
    })
  )

  it.effect("is told of requests that should have no body, too", () =>
    Effect.gen(function* () {
      const { url } = yield* TestHost.make([things], { ...limited, listen: true })
      const connection = yield* Connection.open(url)
      yield* connection.send("GET /nowhere HTTP/1.1\r\nHost: test\r\nContent-Length: 101\r\n\r\n")
      assert.match(yield* connection.closed, /^HTTP\/1\.1 413 Payload Too Large\r\n/)
    })
  )

  it.effect("is told before the client is asked to go on", () =>
    Effect.gen(function* () {
      const { url } = yield* TestHost.make([things], { ...limited, listen: true })
      const connection = yield* Connection.open(url)
      yield* connection.send(post("/raw/text", "Expect: 100-continue", "Content-Length: 101"))
      const answer = yield* connection.closed
      assert.match(answer, /^HTTP\/1\.1 413 /)
      assert.notInclude(answer, "100 Continue")
    })
  )

  it.effect.each(readers)("is counted where it comes in chunks, and the rest is not waited for: %s", (path) =>
    Effect.gen(function* () {
      const { url } = yield* TestHost.make([things], { ...limited, listen: true })
      const connection = yield* Connection.open(url)
      yield* connection.send(post(path, `Content-Type: ${typeOf(path)}`, "Transfer-Encoding: chunked"))
      yield* connection.send(chunk("x".repeat(60)) + chunk("x".repeat(60)))
      const answer = yield* connection.closed
      assert.match(answer, /^HTTP\/1\.1 413 /)
      assert.match(answer, /\r\nconnection: close\r\n/i)
    })
  )

  it.effect("may be as large as the limit", () =>
    Effect.gen(function* () {
      const { url } = yield* TestHost.make([things], { ...limited, listen: true })
      const connection = yield* Connection.open(url)
      yield* connection.send(post("/raw/text", "Content-Length: 100") + "x".repeat(100))
      assert.match(yield* connection.receive("x".repeat(100)), /^HTTP\/1\.1 200 /)
      yield* connection.send(post("/raw/size", "Transfer-Encoding: chunked") + chunk("y".repeat(100)) + "0\r\n\r\n")
      assert.match(yield* connection.receive("\r\n\r\n100"), /HTTP\/1\.1 200 OK\r\n[^]*HTTP\/1\.1 200 OK\r\n/)
    })
  )

  it.effect("does not matter where nobody reads it, and no more of it is drained than keeps the connection", () =>
    Effect.gen(function* () {
      const { url } = yield* TestHost.make([things], { listen: true, config: { host: { urls: "http://127.0.0.1:0" } } })
      const connection = yield* Connection.open(url)
      yield* connection.send(post("/unread", "Transfer-Encoding: chunked"))
      assert.match(yield* connection.receive("not read"), /^HTTP\/1\.1 200 /)
      // The answer is there; a client that goes on and on is cut off.
      connection.socket.on("error", () => {})
      const piece = chunk("x".repeat(65_536))
      const goOn = () => {
        while (!connection.socket.destroyed && connection.socket.write(piece, "latin1"));
      }
      connection.socket.on("drain", goOn)
      goOn()
      yield* connection.closed
    })
  )

  it.effect("is that of the JSON which a YAML body stands for", () =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things], limited)
      const send = (body: string) =>
        request("/raw/json", { method: "POST", headers: { "content-type": "application/yaml" }, body })
      const within = yield* send(`- &a ${"x".repeat(40)}\n- *a`)
      assert.deepStrictEqual(JSON.parse(within.text), ["x".repeat(40), "x".repeat(40)])
      const beyond = yield* send(`- &a ${"x".repeat(40)}\n- *a\n- *a`)
      assert.strictEqual(beyond.status, 413)
      assert.strictEqual(JSON.parse(beyond.text).detail, "The YAML stands for more than 100 bytes of JSON.")
    })
  )
})

describe("a body", () => {
  it.effect("may have a byte order mark, and any name of YAML", () =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things])
      for (const type of [
        "application/json",
        "application/yaml; charset=utf-8",
        "text/yaml",
        "Application/X-YAML",
        "a/b+yaml"
      ]) {
        const { text } = yield* request("/raw/json", {
          method: "POST",
          headers: { "content-type": type },
          body: '\ufeff{"a": [1]}'
        })
        assert.strictEqual(text, '{"a":[1]}', type)
      }
    })
  )

  it.effect("can be read again, in another form", () =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things], { listen: true })
      const send = (type: string, body: string) =>
        request("/raw/twice", { method: "POST", headers: { "content-type": type }, body })
      assert.deepStrictEqual(JSON.parse((yield* send("application/json", "[1]")).text), ["[1]", "[1]", "[1]"])
      assert.deepStrictEqual(JSON.parse((yield* send("text/yaml", "- 1")).text), ["- 1", "[1]", "[1]"])
    })
  )

  it.effect.each(["application/json", "application/yaml"])("of %s that is not UTF-8 is not guessed at", (type) =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things])
      const body = Uint8Array.from('{"value": "caf\u00e9"}', (character) => character.charCodeAt(0))
      for (const path of ["/echo", "/raw/json", "/raw/text"]) {
        const { status, text } = yield* request(path, { method: "POST", headers: { "content-type": type }, body })
        assert.strictEqual(status, 400)
        assert.deepStrictEqual(JSON.parse(text).validationErrors, [
          { field: "body", validationMessage: "Expected text in UTF-8" }
        ])
      }
    })
  )

  it.effect.each(["application/json", "application/yaml"])("of a form is UTF-8, too; told to who takes %s", (accept) =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things])
      const send = (body: string) =>
        request("/form", {
          method: "POST",
          headers: { "content-type": "application/x-www-form-urlencoded", accept },
          body: Uint8Array.from(body, (character) => character.charCodeAt(0))
        })
      for (const name of ["caf\u00c3\u00a9", "caf%C3%A9", "caf%c3%a9", "100%", "%zz", "%25ff"]) {
        assert.strictEqual((yield* send(`count=1&name=${name}`)).status, 200, name)
      }
      for (const name of ["caf\u00e9", "caf%e9", "%C3", "%ed%a0%80", "%C3&x=%A9"]) {
        const { status, text } = yield* send(`count=1&name=${name}`)
        assert.strictEqual(status, 400, name)
        assert.deepStrictEqual(YAML.parse(text).validationErrors, [
          { field: "body", validationMessage: "Expected text in UTF-8" }
        ])
      }
    })
  )

  it.effect.each(["application/json", "application/yaml"])("of %s nests no more than 256 levels", (type) =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things])
      const send = (path: string, levels: number) =>
        request(path, {
          method: "POST",
          headers: { "content-type": type, accept: type },
          body: `{"value":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)}}`
        })
      for (const path of ["/echo", "/raw/json"]) {
        assert.strictEqual((yield* send(path, 256)).status, 200)
        const { headers, status, text } = yield* send(path, 257)
        assert.strictEqual(status, 400)
        assert.strictEqual(headers.get("content-type"), type.replace("/", "/problem+"))
        assert.match(YAML.parse(text).validationErrors[0].validationMessage, /^Expected at most 256 levels/)
      }
    })
  )

  it.effect.each(["application/json", "application/yaml"])("of %s has no more values than it may", (type) =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things], { config: { "host:maxRequestValues": 10 } })
      const send = (path: string, value: string) =>
        request(path, {
          method: "POST",
          headers: { "content-type": type, accept: type },
          body: `{"value":${value}}`
        })
      for (const path of ["/echo", "/raw/json"]) {
        // What stands in a text is no value.
        for (const value of ["[1,2,3,4,5,6,7,8]", '[[],{"a":{}},[",{[,{[,{["]]', '"a\\",[[[[[[[[[[[[[["']) {
          assert.strictEqual((yield* send(path, value)).status, 200, value)
        }
        for (const value of [
          "[1,2,3,4,5,6,7,8,9]",
          "[[],[],[],[],[]]",
          '{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9}'
        ]) {
          const { headers, status, text } = yield* send(path, value)
          assert.strictEqual(status, 413, value)
          assert.strictEqual(headers.get("content-type"), type.replace("/", "/problem+"))
          assert.include(text, "The body has more than 10 values.")
        }
      }
    })
  )

  it.effect.each(["application/json", "application/yaml"])("of %s is read in the charset that it says", (type) =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things])
      const send = (path: string, charset: string, body: Uint8Array<ArrayBuffer>) =>
        request(path, {
          method: "POST",
          headers: { "content-type": `${type}; charset=${charset}`, accept: type },
          body
        })
      const text = '{"value": "caf\u00e9"}'
      const latin = Uint8Array.from(text, (character) => character.charCodeAt(0))
      const wide = Uint8Array.from([...text].flatMap((character) => [character.charCodeAt(0), 0]))
      for (const path of ["/echo", "/raw/json"]) {
        const utf8 = yield* send(path, "UTF-8", new TextEncoder().encode(text))
        assert.strictEqual(utf8.status, 200)
        for (const [charset, body] of [
          ["iso-8859-1", latin],
          ["utf-16le", wide]
        ] as const) {
          assert.deepStrictEqual((yield* send(path, charset, body)).text, utf8.text, charset)
        }
        const unknown = yield* send(path, "klingon", latin)
        assert.strictEqual(unknown.status, 415)
        assert.strictEqual(unknown.headers.get("content-type"), type.replace("/", "/problem+"))
        const broken = yield* send(path, "utf-16le", wide.slice(1))
        assert.strictEqual(broken.status, 400)
      }
    })
  )

  it.effect("that is read as JSON is held to that whatever it says that it is", () =>
    Effect.gen(function* () {
      const { request } = yield* TestHost.make([things])
      const body = "[".repeat(4_000_000) + "]".repeat(4_000_000)
      const send = (path: string) => request(path, { method: "POST", headers: { "content-type": "text/plain" }, body })
      assert.strictEqual((yield* send("/raw/json")).status, 400)
      assert.strictEqual((yield* send("/raw/text")).text, body)
    })
  )

  it.effect("that stops half-way is the client's affair, and no error in the log", () =>
    Effect.gen(function* () {
      const { log, request, url } = yield* TestHost.make([things], { listen: true })
      const connection = yield* Connection.open(url)
      yield* connection.send(post("/raw/text", "X-Request-Id: aborted", "Expect: 100-continue", "Content-Length: 10"))
      // The handler is reading.
      yield* connection.receive("100 Continue")
      yield* connection.send("123")
      connection.socket.destroy()
      const aborted = Effect.map(log.lines, (lines) => lines.find(({ requestId }) => requestId === "aborted"))
      let line = yield* aborted
      while (line === undefined) line = yield* aborted
      assert.containsSubset(line, { level: "Information", message: "POST /raw/text 499" })
      assert.strictEqual((yield* request("/text")).status, 200)
      assert.isTrue((yield* log.lines).every(({ level }) => level !== "Error" && level !== "Warning"))
    })
  )

  it.effect.prop(
    "in YAML is read as the same value as in JSON",
    { value: json },
    ({ value }) =>
      Effect.gen(function* () {
        const { request } = yield* TestHost.make([things])
        const send = (path: string, type: string, body: string) =>
          request(path, { method: "POST", headers: { "content-type": type }, body })
        for (const [path, body] of [
          ["/raw/json", { value }],
          ["/echo", { value }]
        ] as const) {
          const fromJson = yield* send(path, "application/json", JSON.stringify(body))
          const fromYaml = yield* send(path, "application/yaml", YAML.stringify(body, { aliasDuplicateObjects: false }))
          assert.strictEqual(fromJson.status, 200)
          assert.deepStrictEqual([fromYaml.status, fromYaml.text], [fromJson.status, fromJson.text])
        }
      }),
    { arbitrary: { runs: 50 } }
  )

  it.effect.prop(
    "of any bytes is read or refused, and never a failure of the service",
    {
      body: bytes,
      text: hostileText,
      type: Arbitrary.schema(
        Schema.Literals(["application/json", "application/yaml", "text/plain", "application/x-www-form-urlencoded", ""])
      )
    },
    ({ body, text, type }) =>
      Effect.gen(function* () {
        const { log, request } = yield* TestHost.make([things])
        const headers: Record<string, string> = type === "" ? {} : { "content-type": type }
        for (const path of [...readers, "/prefixed/json", "/maybe/1"]) {
          for (const each of [body, new TextEncoder().encode(text)]) {
            const { status, text } = yield* request(path, { method: "POST", headers, body: each })
            assert.include([200, 400, 415], status, `${path}: ${text}`)
          }
        }
        assert.isTrue((yield* log.lines).every(({ level }) => level !== "Error"))
      }),
    { arbitrary: { runs: 50 } }
  )
})
