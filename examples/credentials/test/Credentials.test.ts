/** The service as its callers meet it: over HTTP, in JSON and YAML. */
import { assert, describe, it } from "@effect/vitest"
import { createHmac } from "node:crypto"
import { mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import { TestHost, TestLog } from "layerhost/testing"
import * as YAML from "yaml"
import { plugins } from "../src/plugins.generated.ts"

const seed = "JBSWY3DPEHPK3PXP"
const pem = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"

/** One of each type, with what a read gives back. */
const secrets = {
  UsernamePassword: { type: "UsernamePassword", username: "ada", password: "p1" },
  UsernamePasswordApiKey: { type: "UsernamePasswordApiKey", username: "ada", password: "p1", apiKey: "k1" },
  UsernamePasswordTotp: {
    type: "UsernamePasswordTotp",
    username: "ada",
    password: "p1",
    totp: { totpKey: { base32Key: seed } }
  },
  Certificate: { type: "Certificate", certificate: pem, passphrase: "p2" }
} as const
const buckets = ["ApiKeys", "DatabaseCredentials", "ServiceAccounts"]

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: any
}

interface Service {
  readonly directory: string
  readonly log: ReadonlyArray<string>
  readonly request: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Answer>
}

/** Runs a test against the service on a free port, with a directory of its own. */
const withService = (test: (service: Service) => Promise<void>) =>
  Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        const parent = mkdtempSync(join(tmpdir(), "credentials-"))
        yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(parent, { recursive: true, force: true })))
        const directory = join(parent, "secrets")
        const log: Array<string> = []
        const { write, ...rest } = TestLog.make()
        const host = yield* TestHost.make(plugins, {
          listen: true,
          config: {
            credentials: { token: "test-token" },
            secretstore: { useLocalFileSystem: true, localFileSystemPath: directory }
          },
          // The lines as they are written, whatever they hold.
          log: { ...rest, write: (lines) => (log.push(lines), write(lines)) }
        })
        yield* Effect.promise(() => test({ directory, log, request: requestTo(host.url) }))
      })
    )
  )

const requestTo =
  (url: string): Service["request"] =>
  async (method, path, body, headers) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: "Bearer test-token", "content-type": "application/json", ...headers },
      ...(body === undefined ? undefined : { body: typeof body === "string" ? body : JSON.stringify(body) })
    })
    const text = await response.text()
    const contentType = response.headers.get("content-type") ?? ""
    const answer = contentType.includes("json")
      ? JSON.parse(text)
      : contentType.includes("yaml")
        ? YAML.parse(text)
        : undefined
    return { status: response.status, headers: response.headers, text, body: answer }
  }

const fieldsOf = (answer: Answer): ReadonlyArray<string> =>
  answer.body.validationErrors.map(({ field }: { field: string }) => field)

/** RFC 6238 as it reads there, apart from the service's own code. */
const totp = (base32: string, at: number): string => {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
  const bits = [...base32].map((letter) => alphabet.indexOf(letter).toString(2).padStart(5, "0")).join("")
  const key = Buffer.from(bits.match(/.{8}/g)!.map((byte) => Number.parseInt(byte, 2)))
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(Math.floor(at / 30_000)))
  const digest = createHmac("sha1", key).update(counter).digest()
  const offset = digest[19]! & 15
  return String((digest.readUInt32BE(offset) & 0x7fffffff) % 1_000_000).padStart(6, "0")
}

describe("credentials", () => {
  for (const bucket of buckets) {
    it(`creates, reads, updates and deletes every type in ${bucket}`, () =>
      withService(async ({ request }) => {
        for (const secret of [secrets.UsernamePassword, secrets.UsernamePasswordApiKey, secrets.Certificate]) {
          const created = await request("POST", `/credentials/${bucket}`, secret)
          assert.strictEqual(created.status, 201)
          const path = created.headers.get("location")!
          assert.strictEqual(path, `/credentials/${created.body.id}`)
          assert.deepStrictEqual((await request("GET", path)).body, secret)

          const changed =
            secret.type === "Certificate" ? { ...secret, passphrase: "p3" } : { ...secret, password: "p3" }
          const updated = await request("PUT", path, changed)
          assert.deepStrictEqual([updated.status, updated.body], [200, { id: created.body.id }])
          assert.deepStrictEqual((await request("GET", path)).body, changed)

          assert.strictEqual((await request("DELETE", path)).status, 204)
          assert.strictEqual((await request("GET", path)).status, 404)
          assert.strictEqual((await request("DELETE", path)).status, 204)
        }
      }))
  }

  it("gives the code that another implementation of RFC 6238 gives", () =>
    withService(async ({ request }) => {
      const { body } = await request("POST", "/credentials/ServiceAccounts", secrets.UsernamePasswordTotp)
      const read = await request("GET", `/credentials/${body.id}`)
      const { code, remainingSeconds, validTillUtc } = read.body.totp.totpCode
      const end = Date.parse(validTillUtc)
      assert.strictEqual(code, totp(seed, end - 1))
      assert.isTrue(remainingSeconds >= 1 && remainingSeconds <= 30 && end % 30_000 === 0)
      assert.notProperty(read.body.totp, "totpKey")
      assert.notInclude(read.text, seed)
    }))

  it("speaks YAML both ways", () =>
    withService(async ({ request }) => {
      const yaml = { "content-type": "application/yaml", accept: "application/yaml" }
      const created = await request("POST", "/credentials/ApiKeys", YAML.stringify(secrets.Certificate), yaml)
      assert.deepStrictEqual([created.status, created.headers.get("content-type")], [201, "application/yaml"])
      const read = await request("GET", `/credentials/${created.body.id}`, undefined, yaml)
      assert.deepStrictEqual(read.body, secrets.Certificate)
      const missing = await request("GET", "/credentials/x", undefined, yaml)
      assert.deepStrictEqual([missing.status, missing.headers.get("content-type")], [400, "application/problem+yaml"])
    }))
})

describe("refusals", () => {
  it("wants the token, on every endpoint", () =>
    withService(async ({ request }) => {
      for (const authorization of ["", "Bearer", "Bearer wrong", "Basic dGVzdC10b2tlbg=="]) {
        for (const [method, path] of [
          ["POST", "/credentials/ApiKeys"],
          ["GET", "/credentials/x"],
          ["PUT", "/credentials/x"],
          ["DELETE", "/credentials/x"]
        ] as const) {
          const body = method === "POST" || method === "PUT" ? secrets.UsernamePassword : undefined
          const answer = await request(method, path, body, { authorization })
          assert.strictEqual(answer.status, 401)
          assert.strictEqual(answer.headers.get("content-type"), "application/problem+json")
          assert.strictEqual(answer.headers.get("www-authenticate"), "Bearer")
        }
      }
    }))

  it("names every invalid field", () =>
    withService(async ({ request }) => {
      const cases: ReadonlyArray<readonly [string, string, unknown, ReadonlyArray<string>]> = [
        [
          "POST",
          "/credentials/Nowhere",
          { type: "UsernamePassword", username: "" },
          ["bucket", "username", "password"]
        ],
        ["POST", "/credentials/ApiKeys", { type: "Nothing" }, ["type"]],
        ["POST", "/credentials/ApiKeys", { ...secrets.UsernamePasswordApiKey, apiKey: 7 }, ["apiKey"]],
        ["POST", "/credentials/ApiKeys", { ...secrets.Certificate, certificate: "x" }, ["certificate"]],
        ...["", " ", "not base32!", "189"].map(
          (base32Key) =>
            [
              "POST",
              "/credentials/ApiKeys",
              { ...secrets.UsernamePasswordTotp, totp: { totpKey: { base32Key } } },
              ["totp.totpKey.base32Key"]
            ] as const
        ),
        ["POST", "/credentials/ApiKeys", "{", ["body"]],
        ["PUT", "/credentials/..%2f..%2fetc", { type: "UsernamePassword" }, ["id", "username", "password"]],
        ["GET", "/credentials/not-an-id", undefined, ["id"]],
        ["DELETE", "/credentials/0000", undefined, ["id"]]
      ]
      for (const [method, path, body, fields] of cases) {
        const answer = await request(method, path, body)
        assert.strictEqual(answer.status, 400, `${method} ${path} ${JSON.stringify(body)}: ${answer.text}`)
        assert.deepStrictEqual(fieldsOf(answer), fields)
      }
    }))

  it("knows an id that does not exist from one that is malformed", () =>
    withService(async ({ request }) => {
      const { body } = await request("POST", "/credentials/ApiKeys", secrets.UsernamePassword)
      await request("DELETE", `/credentials/${body.id}`)
      assert.strictEqual((await request("GET", `/credentials/${body.id}`)).status, 404)
      assert.strictEqual((await request("PUT", `/credentials/${body.id}`, secrets.UsernamePassword)).status, 404)
    }))

  it("keeps the type that an id fixes", () =>
    withService(async ({ request }) => {
      const { body } = await request("POST", "/credentials/ApiKeys", secrets.UsernamePassword)
      const answer = await request("PUT", `/credentials/${body.id}`, secrets.Certificate)
      assert.strictEqual(answer.status, 409)
      assert.deepStrictEqual((await request("GET", `/credentials/${body.id}`)).body, secrets.UsernamePassword)
    }))

  it("answers 503 while the storage is away, and recovers", () =>
    withService(async ({ directory, log, request }) => {
      const { body } = await request("POST", "/credentials/ApiKeys", secrets.UsernamePassword)
      renameSync(directory, `${directory}-away`)
      writeFileSync(directory, "a file in the place of the directory")
      assert.strictEqual((await request("GET", `/credentials/${body.id}`)).status, 503)
      assert.strictEqual((await request("POST", "/credentials/ApiKeys", secrets.UsernamePassword)).status, 503)
      assert.strictEqual((await request("GET", "/health/readiness")).status, 503)
      assert.include(log.join(""), "The secret storage is not available")
      rmSync(directory)
      renameSync(`${directory}-away`, directory)
      assert.deepStrictEqual((await request("GET", `/credentials/${body.id}`)).body, secrets.UsernamePassword)
      assert.strictEqual((await request("GET", "/health/readiness")).status, 200)
    }))
})

describe("secrets at rest and in the log", () => {
  it("writes files that only the owner reads", () =>
    withService(async ({ directory, request }) => {
      await request("POST", "/credentials/ApiKeys", secrets.UsernamePassword)
      const entries = readdirSync(directory, { recursive: true, withFileTypes: true })
      assert.isAbove(entries.length, 3)
      for (const entry of entries) {
        const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777
        assert.strictEqual(mode, entry.isDirectory() ? 0o700 : 0o600)
      }
    }))

  it("shows no secret in the log", () =>
    withService(async ({ log, request }) => {
      const canary = "CANARY4SECRET"
      const secret = { type: "UsernamePasswordApiKey", username: "ada", password: canary, apiKey: canary }
      const { body } = await request("POST", "/credentials/ApiKeys", secret)
      await request("PUT", `/credentials/${body.id}`, secret)
      await request("GET", `/credentials/${body.id}`)
      await request("PUT", `/credentials/${body.id}`, { ...secret, type: "Certificate", certificate: canary })
      await request("POST", "/credentials/ApiKeys", { ...secret, username: 1, password: { canary } })
      await request("GET", "/credentials/x", undefined, { authorization: `Bearer ${canary}` })
      assert.isAbove(log.join("").split("\n").length, 6)
      assert.notInclude(log.join(""), canary)
      assert.notInclude(log.join(""), "test-token")
    }))
})

describe("documentation", () => {
  it("describes every endpoint, and shows itself without a network", () =>
    withService(async ({ request }) => {
      const document = await request("GET", "/openapi.json")
      // In OpenAPI, paths that differ in the names of parameters alone are one.
      assert.deepStrictEqual(Object.keys(document.body.paths), ["/credentials/{bucketOrId}"])
      assert.includeMembers(Object.keys(document.body.paths["/credentials/{bucketOrId}"]), [
        "get",
        "post",
        "put",
        "delete"
      ])
      const page = await request("GET", "/docs")
      assert.include(page.text, "<!doctype html>")
      assert.include(page.headers.get("content-security-policy"), "default-src 'none'")
    }))
})
