/**
 * The stand-in and a real server, asked the same: where they answer differently, the stand-in lies. Runs when the
 * environment names a server, as SecretServer.integration.test.ts does.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { randomBytes } from "node:crypto"
import { openBao, vault } from "./support/server/Reply.ts"
import { standIn } from "./support/server/StandIn.ts"

const url = process.env["LAYERHOST_TEST_VAULT_ADDR"] ?? ""
const token = process.env["LAYERHOST_TEST_VAULT_TOKEN"] ?? ""

type Question = readonly [method: string, path: string, body?: object | undefined, token?: string | null]

/** KV and TOTP stand for the two mounts. */
const questions: ReadonlyArray<Question> = [
  // Nothing there.
  ["GET", "KV/data/Set/Bucket/a"],
  ["GET", "KV/metadata/Set/Bucket/a"],
  ["GET", "KV/metadata/Set/Bucket?list=true"],
  ["GET", "KV/metadata/Set/Bucket?list=true&limit=2"],
  ["GET", "KV/metadata/Set/Bucket?list=true&limit=2&after=a"],
  ["DELETE", "KV/data/Set/Bucket/a"],
  ["DELETE", "KV/metadata/Set/Bucket/a"],
  // Documents and their versions.
  ["POST", "KV/data/Set/Bucket/a", {}],
  ["POST", "KV/data/Set/Bucket/a", { data: { n: 1 }, options: { cas: 1 } }],
  ["POST", "KV/data/Set/Bucket/a", { data: { n: 1 }, options: { cas: 0 } }],
  ["POST", "KV/data/Set/Bucket/a", { data: { n: 1 }, options: { cas: 0 } }],
  ["POST", "KV/data/Set/Bucket/a", { data: { n: 2 }, options: { cas: 1 } }],
  ["POST", "KV/data/Set/Bucket/a", { data: { n: 3 } }],
  ["GET", "KV/data/Set/Bucket/a"],
  ["GET", "KV/data/Set/Bucket/a?version=0"],
  ["GET", "KV/data/Set/Bucket/a?version=2"],
  ["GET", "KV/data/Set/Bucket/a?version=4"],
  ["GET", "KV/data/Set/Bucket/a?version=-1"],
  ["GET", "KV/metadata/Set/Bucket/a"],
  ["POST", "KV/data/Set/Bucket/c", { data: {} }],
  ["POST", "KV/data/Set/Bucket/b", { data: {} }],
  ["POST", "KV/data/Set/Bucket/d/below", { data: {} }],
  ["GET", "KV/metadata/Set/Bucket?list=true"],
  ["GET", "KV/metadata/Set/Bucket/?list=true"],
  ["GET", "KV/metadata/Set/Bucket?list=true&limit=2"],
  ["GET", "KV/metadata/Set/Bucket?list=true&limit=2&after=b"],
  ["GET", "KV/metadata/Set/Bucket?list=true&limit=2&after=z"],
  ["GET", "KV/metadata?list=true"],
  // Deleted, and written again.
  ["DELETE", "KV/data/Set/Bucket/a"],
  ["GET", "KV/data/Set/Bucket/a"],
  ["GET", "KV/data/Set/Bucket/a?version=1"],
  ["GET", "KV/metadata/Set/Bucket/a"],
  ["POST", "KV/data/Set/Bucket/a", { data: { n: 4 }, options: { cas: 0 } }],
  ["POST", "KV/data/Set/Bucket/a", { data: { n: 4 }, options: { cas: 3 } }],
  ["DELETE", "KV/metadata/Set/Bucket/a"],
  ["GET", "KV/data/Set/Bucket/a"],
  // More versions than are kept.
  ...Array.from({ length: 12 }, (_, n): Question => ["POST", "KV/data/Set/Bucket/e", { data: { n } }]),
  ["GET", "KV/metadata/Set/Bucket/e"],
  ["GET", "KV/data/Set/Bucket/e?version=2"],
  ["GET", "KV/data/Set/Bucket/e?version=3"],
  // Seeds.
  ["GET", "TOTP/keys?list=true"],
  ["GET", "TOTP/keys/a"],
  ["GET", "TOTP/code/a"],
  ["DELETE", "TOTP/keys/a"],
  ["POST", "TOTP/keys/a", { key: "", issuer: "i", account_name: "n" }],
  ["POST", "TOTP/keys/a", { key: "not base32!", issuer: "i", account_name: "n" }],
  ["POST", "TOTP/keys/a", { key: "JBSW Y3DP", issuer: "i", account_name: "n" }],
  ["POST", "TOTP/keys/a", { key: "JBSWY3DPEHPK3PXP", issuer: "i", account_name: "" }],
  [
    "POST",
    "TOTP/keys/a",
    { key: "JBSWY3DPEHPK3PXP", issuer: "i", account_name: "n", period: 30, algorithm: "SHA1", digits: 6 }
  ],
  ["POST", "TOTP/keys/a", { key: "jbswy3dpehpk3pxp", issuer: "i", account_name: "n" }],
  ["GET", "TOTP/keys/a"],
  ["GET", "TOTP/code/a"],
  ["GET", "TOTP/keys?list=true"],
  ["DELETE", "TOTP/keys/a"],
  ["GET", "TOTP/code/a"],
  // Tokens and mounts.
  ["GET", "KV/data/Set/Bucket/b", undefined, "nonsense"],
  ["GET", "KV/data/Set/Bucket/b", undefined, null],
  ["GET", "nowhere/data/a"],
  ["GET", "nowhere/data/a", undefined, "nonsense"],
  ["GET", "auth/token/lookup-self"],
  ["GET", "auth/token/lookup-self", undefined, "child"],
  ["POST", "auth/token/renew-self", {}, "child"],
  ["GET", "auth/token/lookup-self", undefined, "nonsense"],
  ["POST", "auth/token/renew-self", {}],
  ["GET", "sys/internal/ui/mounts/KV"],
  ["GET", "sys/internal/ui/mounts/TOTP"],
  ["GET", "sys/internal/ui/mounts/nowhere"],
  ["POST", "auth/nowhere/login", { role_id: "a" }, null],
  ["POST", "auth/PREFIX/approle/login", { role_id: "a", secret_id: "b" }, null],
  ["POST", "auth/PREFIX/userpass/login/ada", { password: "wrong" }, null],
  ["GET", "sys/health", undefined, null]
]

interface Target {
  readonly url: string
  readonly token: string
  /** One that lasts an hour. */
  readonly child?: string
  readonly mounts: { readonly KV: string; readonly TOTP: string; readonly PREFIX: string }
}

/** The answers of a server, in which what differs by nature is made equal. */
const ask = ({ child = "", mounts, token, url }: Target, [method, path, body, other = token]: Question) =>
  Effect.promise(async () => {
    const response = await fetch(`${url}/v1/${path.replace(/\b(KV|TOTP|PREFIX)\b/, (name) => mounts[name as "KV"])}`, {
      method,
      headers: other === null ? {} : { "x-vault-token": other === "child" ? child : other },
      ...(body !== undefined && { body: JSON.stringify(body) })
    })
    const text = await response.text()
    const plain = text.replaceAll(mounts.KV, "KV").replaceAll(mounts.TOTP, "TOTP")
    return {
      status: response.status,
      type: response.headers.get("content-type"),
      body: plain === "" ? undefined : (JSON.parse(plain) as unknown)
    }
  })

/** What of one value another one has to have too: the same texts and numbers but for times, codes and ids. */
const shapeOf = (value: unknown, name = ""): unknown => {
  if (/_time$|^(?:code|generated|id|request_id|accessor|client_token|version|ttl|policies|lease_duration)$/.test(name))
    return typeof value
  if (Array.isArray(value)) return value.map((it) => shapeOf(it))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, it]) => [key, shapeOf(it, key)]))
}

const tokenIn = (body: unknown) => (body as { readonly auth: { readonly client_token: string } }).auth.client_token

const enabled = url !== "" && token !== ""

describe.skipIf(!enabled)("The stand-in", () => {
  it.live("answers as the real server does", () =>
    Effect.gen(function* () {
      const prefix = `layerhost-test-${randomBytes(8).toString("hex")}`
      const mounts = { KV: `${prefix}/credentials`, TOTP: `${prefix}/totp`, PREFIX: prefix }
      const root: Target = { url, token, mounts }
      const mount = (path: string, body: object) =>
        Effect.acquireRelease(ask(root, ["POST", path, body]), () => ask(root, ["DELETE", path]))
      yield* mount("sys/mounts/KV", { type: "kv", options: { version: "2" } })
      yield* mount("sys/mounts/TOTP", { type: "totp" })
      yield* mount("sys/auth/PREFIX/approle", { type: "approle" })
      yield* mount("sys/auth/PREFIX/userpass", { type: "userpass" })
      yield* ask(root, ["POST", "auth/PREFIX/userpass/users/ada", { password: "right" }])
      const made = yield* Effect.acquireRelease(
        ask(root, ["POST", "auth/token/create", { ttl: "1h", policies: ["default"] }]),
        ({ body }) => ask(root, ["POST", "auth/token/revoke", { token: tokenIn(body) }])
      )
      const real = { ...root, child: tokenIn(made.body) }

      const { body: nothing } = yield* ask(real, ["GET", "KV/metadata/none?list=true&limit=1"])
      const flavour = JSON.stringify(nothing) === '{"errors":[]}' ? openBao : vault
      const server = yield* standIn({ keyValueMount: mounts.KV, totpMount: mounts.TOTP, flavour })
      for (const path of ["approle/login", "userpass/login/ada"]) {
        server.tokens.accounts.push({ path: `auth/${prefix}/${path}`, accepts: () => false })
      }
      const child = server.tokens.issue({ ttl: 3600 }).id
      const standsIn: Target = { url: server.url.origin, token: server.root, child, mounts }

      const lies: Array<unknown> = []
      for (const question of questions) {
        const [truth, answer] = [yield* ask(real, question), yield* ask(standsIn, question)]
        try {
          expect(shapeOf(truth)).toMatchObject(shapeOf(answer) as object)
        } catch {
          lies.push({ question: question.join(" "), truth: JSON.stringify(truth), lie: JSON.stringify(answer) })
        }
      }
      expect(lies).toEqual([])
    }).pipe(Effect.scoped)
  )
})
