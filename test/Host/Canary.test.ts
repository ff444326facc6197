/**
 * Nothing secret in any log: examples/credentials as a real process, led through every failure that can be brought about,
 * with a canary of its own in every place where a secret may stand. Nothing that the process wrote may hold any of them.
 */
import { assert, describe, it } from "@effect/vitest"
import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import { once } from "node:events"
import { mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs"
import * as http from "node:http"
import { createServer, type AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { bareEnvironment } from "../support/bareEnvironment.ts"

const main = resolve(import.meta.dirname, "../../examples/credentials/src/main.ts")

/** Secrets with names: a leak says where it came from. Base32, so that one may be a TOTP seed. */
class Canaries {
  readonly #byName = new Map<string, string>()

  of(name: string): string {
    let canary = this.#byName.get(name)
    if (canary === undefined) {
      canary = `CANARY${randomBytes(10).reduce((text, byte) => text + "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[byte & 31], "")}`
      this.#byName.set(name, canary)
    }
    return canary
  }

  /** The names of those that stand in a text, as they are or in base64. */
  foundIn(text: string): ReadonlyArray<string> {
    const folded = text.toLowerCase()
    return [...this.#byName]
      .filter(([, canary]) => folded.includes(canary.toLowerCase()) || text.includes(btoa(canary).slice(0, 16)))
      .map(([name]) => name)
  }
}

interface Start {
  /** Configuration files by name. */
  readonly files?: Readonly<Record<string, string>>
  readonly environment?: Readonly<Record<string, string>>
  readonly args?: ReadonlyArray<string>
}

/** A process of the service in a directory of its own, with everything that it writes. */
class Service {
  readonly directory = mkdtempSync(join(tmpdir(), "layerhost-canary-"))
  readonly #child
  readonly #closed: Promise<Array<unknown>>
  readonly #watchers = new Set<() => void>()
  output = ""

  constructor({ args = [], environment = {}, files = {} }: Start) {
    for (const [name, text] of Object.entries(files)) writeFileSync(this.path(name), text)
    this.#child = spawn(process.execPath, [main, ...args], {
      cwd: this.directory,
      env: {
        ...bareEnvironment,
        HOST_URLS: "http://127.0.0.1:0",
        LOGGING_MINIMUMLEVEL: "Verbose",
        SECRETSTORE_USELOCALFILESYSTEM: "true",
        SECRETSTORE_LOCALFILESYSTEMPATH: "secrets",
        ...environment
      },
      stdio: ["ignore", "pipe", "pipe"]
    })
    this.#closed = once(this.#child, "close")
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        this.output += text
        for (const watcher of this.#watchers) watcher()
      })
    }
  }

  path(name: string): string {
    return join(this.directory, name)
  }

  /** Waits until the process has written what matches. */
  async written(pattern: RegExp): Promise<RegExpExecArray> {
    const found = new Promise<RegExpExecArray>((resolveFound, reject) => {
      const look = () => {
        const match = pattern.exec(this.output)
        if (match === null) return
        this.#watchers.delete(look)
        resolveFound(match)
      }
      this.#watchers.add(look)
      look()
      void this.#closed.then(() => reject(new Error(`The service ended before it wrote ${pattern}:\n${this.output}`)))
    })
    return found
  }

  /** Waits for the end of the process, and gives its status. */
  async ended(): Promise<number | null> {
    const [status] = await this.#closed
    return status as number | null
  }

  stop(): Promise<number | null> {
    this.#child.kill("SIGTERM")
    return this.ended()
  }

  /** Ends the process, whatever has become of it, and removes its directory. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill("SIGKILL")
    await this.#closed
    rmSync(this.directory, { recursive: true, force: true })
  }
}

it("a canary is found as it is, in lower case and in base64", () => {
  const canaries = new Canaries()
  const canary = canaries.of("a")
  assert.deepStrictEqual(canaries.foundIn(`x${canary}y`), ["a"])
  assert.deepStrictEqual(canaries.foundIn(canary.toLowerCase()), ["a"])
  assert.deepStrictEqual(canaries.foundIn(btoa(canary)), ["a"])
  assert.deepStrictEqual(canaries.foundIn("CANARY"), [])
})

describe("a service that runs", () => {
  for (const format of ["json", "logfmt", "pretty"]) {
    it(`writes no secret in the format ${format}`, async () => {
      const canaries = new Canaries()
      const token = canaries.of("token of the service")
      await using service = new Service({
        files: {
          "appsettings.yaml": `credentials: { tokn: ${canaries.of("misspelled key")} }\n`,
          "appsettings.secrets.yaml": `secretstore: { token: ${canaries.of("token of the server")} }\n`
        },
        environment: {
          LOGGING_FORMAT: format,
          LOGGING_QUERIES: "true",
          HOST_MAXREQUESTSIZE: "65536",
          CREDENTIALS_TOKEN: token,
          SECRETSTORE_PASSWORD: canaries.of("variable"),
          HOST_PASSWORD: canaries.of("unknown variable"),
          TELEMETRY_HEADERS_0_NAME: "authorization",
          TELEMETRY_HEADERS_0_VALUE: canaries.of("header of the telemetry")
        },
        args: [`--secretstore:secretId=${canaries.of("argument")}`, "--other:token", canaries.of("other argument")]
      })
      const [, url] = await service.written(/Listening on (http:[^\s",]+)/)
      const answers = await useService(service, url!, token, canaries)
      assert.strictEqual(await service.stop(), 0)

      assert.includeMembers(answers, [201, 200, 204, 400, 401, 404, 405, 409, 413, 415, 500, 503])
      // What is not said at all proves nothing.
      for (const said of [/tokn/, /SecretCorrupt/, /The secret storage is not available/, /Shutting down/]) {
        assert.match(service.output, said)
      }
      assert.deepStrictEqual(canaries.foundIn(service.output), [])
    })
  }

  it("writes no secret of a changed file that is not valid", async () => {
    const canaries = new Canaries()
    await using service = new Service({
      files: { "appsettings.secrets.yaml": "credentials: { token: t }\n" },
      environment: { HOST_RELOADONCHANGE: "true", LOGGING_FORMAT: "json" }
    })
    await service.written(/Listening on/)
    writeFileSync(
      service.path("appsettings.secrets.yaml"),
      `credentials: { token: [${canaries.of("list")}] }\nsecretstore: { totpPeriodInSeconds: ${canaries.of("no number")} }\n`
    )
    await service.written(/The changed configuration is not used[^\n]*credentials:token/)
    writeFileSync(service.path("appsettings.json"), `{ "credentials": { "token": "${canaries.of("unclosed")} } }`)
    await service.written(/The changed configuration is not used[^\n]*appsettings\.json:1:/)
    assert.strictEqual(await service.stop(), 0)
    assert.deepStrictEqual(canaries.foundIn(service.output), [])
  })
})

/** A server that gives away what it was told, in every wrong way. It names each kind of answer after what it does. */
class HostileServer {
  readonly #server: http.Server
  readonly asked = new Set<string>()
  answer: (request: http.IncomingMessage, response: http.ServerResponse) => void = (_, response) => response.destroy()

  constructor() {
    this.#server = http.createServer((request, response) => {
      this.asked.add(`${request.method} ${request.url!.split("?")[0]}`)
      request.resume().on("end", () => this.answer(request, response))
    })
  }

  async url(userinfo = ""): Promise<string> {
    if (!this.#server.listening) await once(this.#server.listen(0, "127.0.0.1"), "listening")
    return `http://${userinfo}127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    this.#server.close()
    await once(this.#server, "close")
  }
}

/** Answers of a server that may hold a secret, by what is wrong with them. */
const hostileAnswers = (secret: string): Readonly<Record<string, HostileServer["answer"]>> => {
  const reply =
    (status: number, body: string, headers: http.OutgoingHttpHeaders = { "content-type": "application/json" }) =>
    (_: unknown, response: http.ServerResponse) =>
      void response.writeHead(status, headers).end(body)
  return {
    "no connection": (_, response) => void response.destroy(),
    "half an answer": (_, response) => {
      response.writeHead(200, { "content-length": 1000 }).write(`{"data":"${secret}`)
      response.destroy()
    },
    denied: reply(403, JSON.stringify({ errors: ["permission denied"], data: { token: secret } })),
    "a bad request": reply(400, JSON.stringify({ errors: ["bad request"], auth: { client_token: secret } })),
    "a text": reply(500, secret, { "content-type": "text/plain" }),
    "no JSON": reply(200, `{"data": ${secret}`),
    "another shape": reply(
      200,
      JSON.stringify({ data: { data: { password: { is: secret } }, metadata: { version: 1 } } })
    ),
    "what it was told": ({ headers }, response) =>
      reply(400, JSON.stringify({ errors: [`no ${headers["x-vault-token"]} or ${headers["authorization"]} here`] }))(
        undefined,
        response
      ),
    "a redirection": reply(302, "", { location: `http://127.0.0.1:1/?token=${secret}` })
  }
}

describe("a service whose servers fail", () => {
  const started = async (service: Service) => (await service.written(/Listening on (http:[^\s",]+)/))[1]!

  for (const [title, auth] of [
    ["a token", { SECRETSTORE_AUTHMETHOD: "token" }],
    ["a login", { SECRETSTORE_AUTHMETHOD: "userpass", SECRETSTORE_USERNAME: "ada" }]
  ] as const) {
    it(`writes no secret of a secret server that it meets with ${title}`, async () => {
      const canaries = new Canaries()
      const token = canaries.of("token of the service")
      await using server = new HostileServer()
      await using service = new Service({
        files: {
          "appsettings.secrets.yaml": `secretstore: { token: ${canaries.of("vault token")}, password: ${canaries.of("vault password")} }`
        },
        environment: {
          ...auth,
          LOGGING_FORMAT: "json",
          CREDENTIALS_TOKEN: token,
          SECRETSTORE_USELOCALFILESYSTEM: "false",
          SECRETSTORE_URL: await server.url(),
          SECRETSTORE_TIMEOUTINSECONDS: "0.2"
        }
      })
      const url = await started(service)
      const answers = new Set<number>()
      const send = async (method: string, path: string, body?: unknown) => {
        const response = await fetch(url + path, {
          method,
          headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
          ...(body === undefined ? {} : { body: JSON.stringify(body) })
        })
        answers.add(response.status)
        const text = await response.text()
        assert.deepStrictEqual(canaries.foundIn(text), [], `${method} ${path}`)
        return text
      }
      const login = { client_token: canaries.of("token of the login"), lease_duration: 60, renewable: true }
      const fulfil: HostileServer["answer"] = (_, response) => {
        response.writeHead(200, { "content-type": "application/json" })
        response.end(JSON.stringify({ auth: login, data: { version: 1 } }))
      }
      server.answer = fulfil
      const secret = { type: "UsernamePassword", username: "ada", password: canaries.of("password") }
      const totp = { ...secret, type: "UsernamePasswordTotp", totp: { totpKey: { base32Key: canaries.of("seed") } } }
      const { id } = JSON.parse(await send("POST", "/credentials/ApiKeys", secret))
      for (const [name, answer] of Object.entries(hostileAnswers(canaries.of("answer of the server")))) {
        // The login is let through, so that the token which it gives meets the failure, too.
        server.answer = (request, response) =>
          request.url!.includes("/login/") && name !== "denied" && name !== "a text"
            ? fulfil(request, response)
            : answer(request, response)
        await send("POST", "/credentials/ApiKeys", secret)
        await send("POST", "/credentials/ApiKeys", totp)
        await send("GET", `/credentials/${id}`)
        await send("PUT", `/credentials/${id}`, secret)
        await send("GET", "/health/readiness")
      }
      assert.strictEqual(await service.stop(), 0)
      assert.includeMembers([...answers], [201, 500, 503])
      assert.isTrue(
        [...server.asked].some((asked) => asked.startsWith("POST /v1/")),
        [...server.asked].join()
      )
      assert.match(service.output, /"log\.level":"(?:Warning|Error)"/)
      assert.deepStrictEqual(canaries.foundIn(service.output), [])
    })
  }

  // Each signal tells of its first trouble: three protocols with other answers first bring up all.
  for (const [index, protocol] of ["http/protobuf", "http/json", "grpc"].entries()) {
    it(`writes no secret of a collector that fails, over ${protocol}`, async () => {
      const canaries = new Canaries()
      const { "another shape": _, "no JSON": __, ...refusals } = hostileAnswers(canaries.of("answer of the collector"))
      const answers = Object.values(refusals)
      let next = 2 * index
      await using server = new HostileServer()
      server.answer = (request, response) => answers[next++ % answers.length]!(request, response)
      await using service = new Service({
        environment: {
          LOGGING_FORMAT: "json",
          CREDENTIALS_TOKEN: canaries.of("token"),
          TELEMETRY_ENDPOINT: await server.url(`ada:${canaries.of("password of the endpoint")}@`),
          TELEMETRY_PROTOCOL: protocol,
          TELEMETRY_SHUTDOWNTIMEOUT: "1s",
          TELEMETRY_HEADERS_0_NAME: "authorization",
          TELEMETRY_HEADERS_0_VALUE: `Bearer ${canaries.of("header")}`
        }
      })
      const url = await started(service)
      await (await fetch(`${url}/credentials/x?access_token=${canaries.of("query")}`)).text()
      assert.strictEqual(await service.stop(), 0)
      assert.match(service.output, /Telemetry cannot be exported/)
      assert.deepStrictEqual(canaries.foundIn(service.output), [])
    })
  }
})

/** Leads a service through its failures, and gives the status of every answer. Only what was asked for may hold a secret. */
const useService = async (service: Service, url: string, token: string, canaries: Canaries) => {
  const answers: Array<number> = []
  const send = async (method: string, path: string, body?: string, headers: Readonly<Record<string, string>> = {}) => {
    const response = await fetch(url + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        cookie: `session=${canaries.of("cookie")}`,
        "x-api-key": canaries.of("header"),
        ...headers
      },
      ...(body === undefined ? {} : { body })
    })
    answers.push(response.status)
    const text = await response.text()
    if (!(method === "GET" && response.ok)) assert.deepStrictEqual(canaries.foundIn(text), [], `${method} ${path}`)
    return { status: response.status, text }
  }
  const secret = {
    type: "UsernamePasswordApiKey",
    username: "ada",
    password: canaries.of("password"),
    apiKey: canaries.of("api key")
  }
  const totp = {
    type: "UsernamePasswordTotp",
    username: "ada",
    password: canaries.of("password"),
    totp: { totpKey: { base32Key: canaries.of("seed") } }
  }
  const create = async (value: unknown) => {
    const { status, text } = await send("POST", "/credentials/ApiKeys", JSON.stringify(value))
    assert.strictEqual(status, 201, text)
    return `/credentials/${JSON.parse(text).id}`
  }
  const path = await create(secret)
  const totpPath = await create(totp)
  assert.include((await send("GET", path)).text, canaries.of("password"))
  await send("GET", totpPath)
  await send("PUT", path, JSON.stringify({ ...secret, password: canaries.of("new password") }))

  // What callers get wrong.
  await send("GET", `${path}?access_token=${canaries.of("query")}&password=${canaries.of("query")}`)
  await send("GET", path, undefined, { authorization: `Bearer ${canaries.of("wrong token")}` })
  await send("GET", path, undefined, { authorization: `Basic ${btoa(`ada:${canaries.of("basic")}`)}` })
  await send("PUT", path, JSON.stringify(totp))
  await send("POST", "/credentials/ApiKeys", JSON.stringify({ ...secret, apiKey: { of: canaries.of("wrong type") } }))
  await send("POST", "/credentials/ApiKeys", JSON.stringify({ ...secret, [canaries.of("key")]: 1, username: 1 }))
  await send("POST", "/credentials/ApiKeys", JSON.stringify({ type: "Certificate", certificate: canaries.of("pem") }))
  const badSeed = { totpKey: { base32Key: `${canaries.of("bad seed")}!` } }
  await send("POST", "/credentials/ApiKeys", JSON.stringify({ ...totp, totp: badSeed }))
  await send("POST", "/credentials/ApiKeys", `{"type":"UsernamePassword","password":"${canaries.of("unclosed")}`)
  const yaml = { "content-type": "application/yaml", accept: "application/yaml" }
  await send("POST", "/credentials/ApiKeys", `password: "${canaries.of("unclosed yaml")}`, yaml)
  await send("POST", "/credentials/ApiKeys", `password: ${canaries.of("yaml")}\ntype: !!x 1`, yaml)
  await send("POST", "/credentials/ApiKeys", canaries.of("other type"), { "content-type": "text/csv" })
  await send("POST", "/credentials/ApiKeys", canaries.of("large").repeat(5000))
  await send("PATCH", path, canaries.of("method"))
  await send("GET", `/nowhere?token=${canaries.of("nowhere")}`)

  // What happens to the storage.
  for (const [content, name] of [
    [`{"password":"${canaries.of("damaged")}`, "damaged"],
    [JSON.stringify({ ...secret, password: { is: canaries.of("stored wrongly") } }), "stored wrongly"]
  ] as const) {
    writeFileSync(storedFile(service.path("secrets"), secret.type), content)
    assert.strictEqual((await send("GET", path)).status, 500, name)
  }
  renameSync(service.path("secrets"), service.path("away"))
  writeFileSync(service.path("secrets"), canaries.of("a file in the place of the directory"))
  await send("GET", totpPath)
  await send("PUT", totpPath, JSON.stringify(totp))
  await send("POST", "/credentials/ApiKeys", JSON.stringify(secret))
  await send("GET", "/health/readiness")
  rmSync(service.path("secrets"))
  renameSync(service.path("away"), service.path("secrets"))
  await send("DELETE", totpPath)
  await send("GET", totpPath)
  for (const open of ["/health/liveness", "/metrics", "/openapi.json", "/docs"]) {
    assert.deepStrictEqual(canaries.foundIn((await send("GET", open)).text), [], open)
  }
  return answers
}

/** The file of the one secret of a type. */
const storedFile = (root: string, type: string): string => {
  const names = readdirSync(root, { recursive: true, encoding: "utf8" })
  return join(
    root,
    names.find((name) => name.endsWith(".json") && name.includes(`${type}/`))!
  )
}

describe("a service that does not start writes no secret", () => {
  const credentials = { CREDENTIALS_TOKEN: "t" }
  const cases: Readonly<Record<string, (canaries: Canaries) => Start & { readonly says: RegExp }>> = {
    "when values are not valid": (canaries) => ({
      files: {
        "appsettings.secrets.yaml": `host: { maxRequestSize: ${canaries.of("in a secrets file")} }\n`,
        "appsettings.json": JSON.stringify({
          credentials: { token: { is: canaries.of("section") } },
          secretstore: { token: [canaries.of("element")], tokn: canaries.of("misspelled"), useLocalFileSystem: "maybe" }
        })
      },
      environment: { HOST_SHUTDOWNDELAY: "soon" },
      says: /host:maxRequestSize[^]*credentials:token/
    }),
    "when a URL holds a password": (canaries) => ({
      environment: { ...credentials, HOST_URLS: `http://ada:${canaries.of("url")}@localhost:0/path` },
      says: /host:urls/
    }),
    "when files cannot be read": (canaries) => ({
      files: {
        "appsettings.json": `{ "credentials": { "token": ${canaries.of("bare")} } }`,
        "appsettings.a.json": `{ "credentials": { "token": "a", "token": "${canaries.of("duplicate")}" } }`,
        "appsettings.b.json": `{ "credentials": { "${canaries.of("escape")}\\x": 1 } }`,
        "appsettings.yaml": `credentials: { token: ${canaries.of("flow")}`,
        "appsettings.a.yaml": `credentials:\n  token: "${canaries.of("quoted")}\\q"\n`,
        "appsettings.b.yaml": `credentials:\n  token: !secret ${canaries.of("tagged")}\n`,
        "appsettings.c.yaml": `credentials:\n token: a\n  ${canaries.of("indented")}\n`,
        "appsettings.d.yaml": `- ${canaries.of("list")}\n`,
        "appsettings.e.yaml": `credentials: { token: *${canaries.of("alias")} }\n`,
        "appsettings.secrets.yaml": canaries.of("scalar")
      },
      says: /9 configuration errors/
    }),
    "when arguments and variables are wrong": (canaries) => ({
      environment: { CREDENTIALS_TOKEN_X: canaries.of("below"), SECRETSTORE_TOTPPERIODINSECONDS: "0" },
      args: ["--credentials:token", `--credentials:tokn=${canaries.of("argument")}`, "--secretstore:token"],
      says: /credentials:token/
    }),
    "when its storage is not to be had": (canaries) => ({
      files: { secrets: canaries.of("file") },
      environment: {
        CREDENTIALS_TOKEN: canaries.of("token"),
        HOST_URLS: "http://127.0.0.1:1,http://unix:/nowhere/x.sock"
      },
      says: /\S/
    })
  }
  for (const [title, make] of Object.entries(cases)) {
    it(title, async () => {
      const canaries = new Canaries()
      const { says, ...start } = make(canaries)
      await using service = new Service(start)
      assert.strictEqual(await service.ended(), 1, service.output)
      assert.match(service.output, says)
      assert.deepStrictEqual(canaries.foundIn(service.output), [])
    })
  }

  it("when its address is taken", async () => {
    const taken = createServer().listen(0, "127.0.0.1")
    await once(taken, "listening")
    try {
      const canaries = new Canaries()
      await using service = new Service({
        environment: {
          CREDENTIALS_TOKEN: canaries.of("token"),
          HOST_URLS: `http://127.0.0.1:${(taken.address() as AddressInfo).port}`
        }
      })
      assert.strictEqual(await service.ended(), 1, service.output)
      assert.match(service.output, /EADDRINUSE|in use/)
      assert.deepStrictEqual(canaries.foundIn(service.output), [])
    } finally {
      taken.close()
    }
  })
})
