import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/testing/TestClock"
import { spawn } from "node:child_process"
import { randomBytes } from "node:crypto"
import * as fs from "node:fs"
import * as nodePath from "node:path"
import { createInterface } from "node:readline"
import { standIn } from "../../SecretStore/support/server/StandIn.ts"
import { makeFiles } from "../generate/files.ts"
import type { Answered, Asked } from "../inProcess.ts"
import { bareEnvironment } from "../../support/bareEnvironment.ts"

const root = nodePath.resolve(import.meta.dirname, "../../..")

/** A service with two bucket sets, whose plugin would be noticed if anything of it ran. */
const makeService = Effect.gen(function* () {
  const directory = yield* makeFiles({
    "package.json": { type: "module" },
    "src/VaultPlugin.ts": `
      import * as Effect from "effect/Effect"
      import * as Layer from "effect/Layer"
      import { Plugin } from "layerhost"
      import { BucketSet } from "layerhost/SecretStore"
      export const Vault = BucketSet.make("Vault", { ApiKeys: 0, Logins: 1, Shared: 7 })
      export const Other = BucketSet.make("Other", { Shared: 3 })
      export const vault = Plugin.make({
        id: "vault",
        services: Layer.effectDiscard(Effect.sync(() => process.stdout.write("STARTED")))
      })
    `,
    "src/plugins.generated.ts": `
      import { secretStore } from "layerhost/SecretStore"
      import { vault } from "./VaultPlugin.ts"
      export const plugins = [secretStore, vault] as const
    `,
    "appsettings.yaml": "secretstore: { useLocalFileSystem: true, localFileSystemPath: ./kept }\n"
  })
  fs.symlinkSync(`${root}/node_modules`, nodePath.join(directory, "node_modules"))
  return directory
})

/** Commands, as a shell would run them. */
const makeSession = Effect.acquireRelease(
  Effect.sync(() => {
    const child = spawn(process.execPath, [nodePath.join(import.meta.dirname, "session.ts")], {
      stdio: ["pipe", "pipe", "inherit"],
      env: { ...bareEnvironment }
    })
    const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    const run = (cwd: string, args: ReadonlyArray<string>, options: Partial<Asked> = {}) =>
      Effect.promise(async () => {
        child.stdin.write(`${JSON.stringify({ cwd, args, input: "", environment: {}, ...options })}\n`)
        const { value = "nothing" } = await answers.next()
        assert.notInclude(value, "STARTED")
        return JSON.parse(value) as Answered
      })
    return { child, run }
  }),
  ({ child }) => Effect.sync(() => child.kill())
)

class Session extends Context.Service<Session, Effect.Success<typeof makeSession>>()("test/Session") {
  static readonly layer = Layer.effect(Session, makeSession)
}

const json = (text: string) => JSON.parse(text)

it.layer(Layer.merge(NodeFileSystem.layer, Session.layer))("secrets", (it) => {
  it.effect("keeps a secret from its creation to its removal", () =>
    Effect.gen(function* () {
      const service = yield* makeService
      const { run } = yield* Session
      const created = yield* run(service, ["create", "ApiKeys"], {
        input: '{"type":"UsernamePassword","username":"ada","password":"canary 1"}'
      })
      assert.deepStrictEqual([created.status, created.stderr], [0, ""])
      const id = created.stdout.trim()
      assert.isTrue(fs.existsSync(nodePath.join(service, "kept/Vault/ApiKeys/UsernamePassword")))

      const updated = yield* run(service, ["update", id, "--expected-version", "1"], {
        input: "username: ada\npassword: canary 2\n"
      })
      assert.deepStrictEqual([updated.status, updated.stdout, updated.stderr], [0, "", ""])
      const late = yield* run(service, ["update", id, "--expected-version", "1", "--json"], { input: "{}" })
      assert.strictEqual(late.status, 1)
      assert.strictEqual(json(late.stderr).error.tag, "SecretInvalid")
      const conflict = yield* run(service, ["update", id, "--expected-version", "1", "--json"], {
        input: '{"username":"ada","password":"canary 3"}'
      })
      assert.strictEqual(conflict.status, 1)
      assert.strictEqual(json(conflict.stderr).error.tag, "SecretVersionConflict")

      // From another directory, with the service named.
      const got = yield* run(nodePath.dirname(service), ["get", id, "--service", service])
      assert.deepStrictEqual(
        [got.status, got.stdout, got.stderr],
        [0, "type: UsernamePassword\nusername: ada\npassword: canary 2\n", ""]
      )
      assert.strictEqual((yield* run(service, ["get", id, "--field", "password"])).stdout, "canary 2")

      const versions = json((yield* run(service, ["history", id, "--json"])).stdout)
      assert.deepStrictEqual(
        versions.map(({ version }: { version: number }) => version),
        [2, 1]
      )
      assert.strictEqual((yield* run(service, ["restore", id, "1"])).status, 0)
      assert.strictEqual((yield* run(service, ["get", id, "--field", "Password"])).stdout, "canary 1")

      assert.deepStrictEqual(json((yield* run(service, ["list", "--json"])).stdout), [
        { id, bucket: "ApiKeys", type: "UsernamePassword" }
      ])
      assert.strictEqual((yield* run(service, ["delete", id])).status, 0)
      const gone = yield* run(service, ["get", id])
      assert.deepStrictEqual([gone.status, gone.stdout], [2, ""])
      assert.include(gone.stderr, `There is no secret with the id ${id}`)
    })
  )

  it.effect("prints the code of a one-time password, and what an id says", () =>
    Effect.gen(function* () {
      const service = yield* makeService
      const { run } = yield* Session
      const seed = { totpKey: { base32Key: "JBSWY3DPEHPK3PXP" } }
      const secret = { username: "ada", password: "p", totp: seed }
      const created = yield* run(
        service,
        ["create", "shared", "--set", "Other", "--type", "UsernamePasswordTotp", "--json"],
        {
          input: JSON.stringify(secret)
        }
      )
      const { id } = json(created.stdout)
      const totp = yield* run(service, ["totp", id])
      assert.match(totp.stdout, /^\d{6}\n$/)
      assert.strictEqual(totp.stderr, "")
      const facts = json((yield* run(service, ["parse-id", id, "--json"])).stdout)
      assert.deepStrictEqual(
        { ...facts, key: facts.key.length },
        {
          bucketSet: "Other",
          bucket: "Shared",
          type: "UsernamePasswordTotp",
          key: 32
        }
      )
    })
  )

  it.effect("refuses values in arguments without repeating them, and explains", () =>
    Effect.gen(function* () {
      const service = yield* makeService
      const { run } = yield* Session
      for (const args of [
        ["create", "ApiKeys", "canary"],
        ["create", "ApiKeys", "--password", "canary"],
        ["update", "id", "--seed=canary", "--json"]
      ]) {
        const { status, stderr, stdout } = yield* run(service, args, { input: "{}" })
        assert.deepStrictEqual([status, stdout], [1, ""])
        assert.include(stderr, "never taken from arguments")
        assert.notInclude(stderr, "canary")
      }
      for (const [args, message, input] of [
        [["get", "canary"], "That is no id of a secret in Vault, Other", ""],
        [["get", "--pasword=canary"], "--pasword", ""],
        [["list", "Shared"], `The bucket "Shared" is in several sets: choose one of Vault, Other with --set`, ""],
        [["create", "Nowhere"], `There is no bucket "Nowhere"; expected one of ApiKeys, Logins, Shared`, ""],
        [["create", "ApiKeys"], "Standard input is neither JSON nor YAML", '{"password":"canary'],
        [["create", "ApiKeys"], "username: Missing key; password: Missing key", "type: UsernamePassword"],
        [["create", "ApiKeys"], "Standard input is empty", ""],
        [["create", "ApiKeys"], "Standard input is longer than 16777216 characters", "canary".repeat(3_000_000)]
      ] as const) {
        const { status, stderr } = yield* run(service, args, { input })
        assert.strictEqual(status, 1)
        assert.include(stderr, message)
        assert.notInclude(stderr, "canary")
      }
      const away = yield* run(service, ["list", "ApiKeys", "--json", "--", "--secretstore:useLocalFileSystem=false"], {
        environment: {
          SECRETSTORE_URL: "http://127.0.0.1:9",
          SECRETSTORE_TOKEN: "canary",
          SECRETSTORE_TIMEOUTINSECONDS: "0.5"
        }
      })
      assert.strictEqual(away.status, 3)
      assert.strictEqual(json(away.stderr).error.tag, "SecretBackendUnavailable")
      const wrong = yield* run(service, ["list"], { environment: { SECRETSTORE_ENCRYPTIONKEY: "canary" } })
      assert.strictEqual(wrong.status, 1)
      assert.include(wrong.stderr, "secretstore:encryptionKey: expected 32 bytes in base64")
      assert.notInclude(wrong.stderr, "canary")
    })
  )

  it.effect("encrypts plain files, changes the key, and moves everything to another directory", () =>
    Effect.gen(function* () {
      const service = yield* makeService
      const { run } = yield* Session
      const ids: Array<string> = []
      for (const password of ["1", "2", "3"]) {
        const created = yield* run(service, ["create", "Logins", "--type", "UsernamePassword"], {
          input: JSON.stringify({ username: "ada", password: `canary ${password}` })
        })
        ids.push(created.stdout.trim())
      }
      const [one, two] = [randomBytes(32).toString("base64"), randomBytes(32).toString("base64")]
      const withOne = { environment: { SECRETSTORE_ENCRYPTIONKEY: one } }
      const refused = yield* run(service, ["encrypt", "--json"], withOne)
      assert.strictEqual(refused.status, 1)
      assert.strictEqual(json(refused.stdout).failed.length, 3)
      const encrypted = yield* run(service, ["encrypt", "--accept-plain-files"], withOne)
      assert.strictEqual(encrypted.status, 0)
      assert.match(
        encrypted.stdout,
        /^3 files encrypted with the key [0-9a-f]{16}, 0 were so before, 0 cannot be read\n$/
      )

      const rotating = { environment: { SECRETSTORE_ENCRYPTIONKEY: two, SECRETSTORE_FORMERENCRYPTIONKEYS_0: one } }
      assert.strictEqual(json((yield* run(service, ["encrypt", "--dry-run", "--json"], rotating)).stdout).encrypted, 3)
      assert.strictEqual(json((yield* run(service, ["encrypt", "--json"], rotating)).stdout).encrypted, 3)

      const withTwo = { environment: { SECRETSTORE_ENCRYPTIONKEY: two } }
      const migrate = ["migrate", "--from", "files", "--to", "files:./moved", "--json"]
      const dry = json((yield* run(service, [...migrate, "--dry-run"], withTwo)).stdout)
      assert.deepStrictEqual(dry, { dryRun: true, moved: 3, present: 0, conflicts: [], needSeed: [], failed: [] })
      assert.isFalse(fs.existsSync(nodePath.join(service, "moved")))
      assert.strictEqual(json((yield* run(service, migrate, withTwo)).stdout).moved, 3)
      assert.strictEqual(json((yield* run(service, migrate, withTwo)).stdout).present, 3)
      const moved = { ...withTwo.environment, SECRETSTORE_LOCALFILESYSTEMPATH: "./moved" }
      assert.strictEqual(
        (yield* run(service, ["get", ids[1]!, "--field", "password"], { environment: moved })).stdout,
        "canary 2"
      )

      fs.rmSync(nodePath.join(service, "kept"), { recursive: true })
      const missing = yield* run(service, migrate, withTwo)
      assert.strictEqual(missing.status, 1)
      assert.include(json(missing.stderr).error.message, "There is no directory")
    })
  )

  it.effect("moves secrets to the server with their seeds, and back with new ones", () =>
    Effect.gen(function* () {
      const service = yield* makeService
      const { run } = yield* Session
      yield* TestClock.setTime(Date.UTC(2026, 0, 1))
      const server = yield* standIn()
      const environment = { SECRETSTORE_URL: server.url.href, SECRETSTORE_TOKEN: server.root }
      const login = { username: "ada", password: "canary" }
      yield* run(service, ["create", "Logins", "--type", "UsernamePassword"], { input: JSON.stringify(login) })
      const { stdout } = yield* run(service, ["create", "Logins", "--type", "UsernamePasswordTotp"], {
        input: JSON.stringify({ ...login, totp: { totpKey: { base32Key: "JBSWY3DPEHPK3PXP" } } })
      })
      const id = stdout.trim()
      const there = yield* run(service, ["migrate", "--from", "files", "--to", "server"], { environment })
      assert.deepStrictEqual(there, { status: 0, stdout: "2 moved, 0 there already\n", stderr: "" })
      assert.deepStrictEqual([server.documents.size, [...server.keys.keys()]], [2, [id]])

      const back = ["migrate", "--from", "server", "--to", "files:./back"]
      const first = yield* run(service, back, { environment })
      assert.deepStrictEqual([first.status, first.stdout], [1, "1 moved, 0 there already\n"])
      assert.include(first.stderr, `each needs a new one (--seeds):\n  ${id}\n`)
      const seeds = { environment, input: JSON.stringify({ [id]: "GEZDGNBVGY3TQOJQ" }) }
      const second = yield* run(service, [...back, "--seeds"], seeds)
      assert.deepStrictEqual(second, { status: 0, stdout: "1 moved, 1 there already\n", stderr: "" })

      yield* Effect.promise(() => server.stop())
      const away = { ...environment, SECRETSTORE_TIMEOUTINSECONDS: "0.5" }
      const stopped = yield* run(service, back, { environment: away })
      assert.strictEqual(stopped.status, 3)
      assert.include(stopped.stderr, "Run the command again to go on")
    })
  )
})
