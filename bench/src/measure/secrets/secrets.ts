/** Secrets on each backend against what it does beneath; codes and ids. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import * as References from "effect/References"
import { fork } from "node:child_process"
import { createHmac, randomBytes } from "node:crypto"
import { once } from "node:events"
import { globSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as BucketSet from "../../../../src/SecretStore/BucketSet.ts"
import * as FileBackend from "../../../../src/SecretStore/FileBackend.ts"
import * as MemoryBackend from "../../../../src/SecretStore/MemoryBackend.ts"
import type { UsernamePassword } from "../../../../src/SecretStore/Secret.ts"
import type { SecretBackend } from "../../../../src/SecretStore/SecretBackend.ts"
import * as SecretId from "../../../../src/SecretStore/SecretId.ts"
import * as SecretServer from "../../../../src/SecretStore/SecretServer.ts"
import * as SecretStorage from "../../../../src/SecretStore/SecretStorage.ts"
import { SecretStoreConfig } from "../../../../src/SecretStore/SecretStoreConfig.ts"
import * as TotpCodeGenerator from "../../../../src/SecretStore/TotpCodeGenerator.ts"
import * as Bare from "./bare.ts"

const Buckets = BucketSet.make("Bench", { ApiKeys: 0 })

class Storage extends SecretStorage.Service<Storage>()("bench/Storage", Buckets) {}

const secret: UsernamePassword = { type: "UsernamePassword", username: "ada", password: Redacted.make("correct horse") }

const platform = Layer.mergeAll(NodeFileSystem.layer, NodePath.layer)

/** One operation with what it is compared with, if anything; `count` of them make a round. */
export interface Case {
  readonly name: string
  readonly against: string
  readonly count: number
  /** How many at once. */
  readonly concurrency: number
  readonly run: Effect.Effect<unknown, unknown>
  readonly bare: (() => Promise<unknown>) | undefined
}

/** Microseconds for each operation, of each round. */
export interface CaseResult extends Pick<Case, "name" | "against"> {
  readonly micros: ReadonlyArray<number>
  readonly bareMicros: ReadonlyArray<number>
}

const millisOf = async (run: () => Promise<unknown>): Promise<number> => {
  const begun = performance.now()
  await run()
  return performance.now() - begun
}

const repeated = async (count: number, concurrency: number, run: () => Promise<unknown>): Promise<void> => {
  let left = count
  const worker = async () => {
    while (left-- > 0) await run()
  }
  await Promise.all(Array.from({ length: concurrency }, worker))
}

/** Rounds that do not count: a service runs on compiled code, and the more of it there is, the longer that takes. */
const warmUps = 4

/** Turns that both take in a round, so that what else the machine does meanwhile falls on both. */
const turns = 10

const measure = async ({ against, bare, concurrency, count, name, run }: Case, rounds: number): Promise<CaseResult> => {
  const perTurn = count / turns
  // As in a host without an endpoint for traces.
  const all = Effect.forEach(Array.from({ length: perTurn }), () => run, { concurrency, discard: true }).pipe(
    Effect.provideService(References.TracerEnabled, false)
  )
  const micros: Array<number> = []
  const bareMicros: Array<number> = []
  for (let round = -warmUps; round < rounds; round++) {
    let millis = 0
    let bareMillis = 0
    for (let turn = 0; turn < turns; turn++) {
      millis += await millisOf(() => Effect.runPromise(all))
      if (bare !== undefined) bareMillis += await millisOf(() => repeated(perTurn, concurrency, bare))
    }
    if (round < 0) continue
    micros.push((millis * 1000) / count)
    if (bare !== undefined) bareMicros.push((bareMillis * 1000) / count)
  }
  return { name, against, micros, bareMicros }
}

const opened = async <E>(backend: Layer.Layer<SecretBackend, E>) => {
  const quiet = Layer.succeed(References.MinimumLogLevel, "Error")
  const runtime = ManagedRuntime.make(Storage.layer.pipe(Layer.provide(backend), Layer.provide(quiet)))
  const storage = await runtime.runPromise(Storage)
  const create = storage.create("ApiKeys", secret)
  return {
    get: storage.get,
    create,
    update: (id: SecretId.SecretId<"ApiKeys">) => storage.update(id, secret),
    made: () => Effect.runPromise(create),
    [Symbol.asyncDispose]: () => runtime.dispose()
  }
}

const memoryCases = async (rounds: number): Promise<ReadonlyArray<CaseResult>> => {
  await using storage = await opened(MemoryBackend.layer())
  const id = await storage.made()
  const each = { against: "", count: 2000, concurrency: 1, bare: undefined }
  return [
    await measure({ ...each, name: "memory, get", run: storage.get(id) }, rounds),
    await measure({ ...each, name: "memory, create", run: storage.create }, rounds),
    await measure({ ...each, name: "memory, update", run: storage.update(id) }, rounds)
  ]
}

const fileCases = async (rounds: number): Promise<ReadonlyArray<CaseResult>> => {
  const directory = mkdtempSync(join(tmpdir(), "layerhost-bench-"))
  try {
    await using storage = await opened(
      FileBackend.layer({ path: join(directory, "secrets") }).pipe(Layer.provide(platform))
    )
    const id = await storage.made()
    const [file] = globSync(join(directory, "secrets/Bench/**/*.json"))
    const text = JSON.stringify(await Bare.readJson(file!))
    mkdirSync(join(directory, "bare"))
    let n = 0
    const bareFile = (n: number) => join(directory, "bare", `${n}.json`)
    const write = "temporary file, fsync, rename, fsync of the directory"
    const each = { concurrency: 1 }
    return [
      await measure(
        {
          ...each,
          name: "file, get",
          against: "readFile, JSON.parse",
          count: 4000,
          run: storage.get(id),
          bare: () => Bare.readJson(file!)
        },
        rounds
      ),
      await measure(
        {
          ...each,
          name: "file, create",
          against: write,
          count: 200,
          run: storage.create,
          bare: () => Bare.writeDurably(bareFile(n++), text)
        },
        rounds
      ),
      await measure(
        {
          ...each,
          name: "file, update",
          against: `readFile, JSON.parse, ${write}`,
          count: 200,
          run: storage.update(id),
          bare: async () => {
            await Bare.readJson(bareFile(0))
            await Bare.writeDurably(bareFile(0), text)
          }
        },
        rounds
      )
    ]
  } finally {
    rmSync(directory, { recursive: true })
  }
}

const serverCases = async (rounds: number): Promise<ReadonlyArray<CaseResult>> => {
  const standIn = fork(join(import.meta.dirname, "standIn.ts"))
  try {
    const [server] = (await once(standIn, "message")) as [Bare.SecretServer]
    await using storage = await opened(
      SecretServer.layerConfig.pipe(Layer.provide(SecretStoreConfig.layer(server)), Layer.provide(platform))
    )
    const data = { username: "ada", password: "correct horse" }
    const id = await storage.made()
    await Bare.create(server, "bare", data)
    // Updates of one secret at the same time would be in each other's way.
    const ids = await Promise.all(Array.from({ length: 1000 }, storage.made))
    await Promise.all(ids.map((id) => Bare.create(server, `bare/${id.key}`, data)))
    let n = 0
    const each = { concurrency: 32, count: 1600 }
    return [
      await measure(
        {
          ...each,
          name: "server, get",
          against: "undici: GET",
          run: storage.get(id),
          bare: () => Bare.get(server, "bare")
        },
        rounds
      ),
      await measure(
        {
          ...each,
          name: "server, create",
          against: "undici: POST",
          run: storage.create,
          bare: () => Bare.create(server, `new/${n++}`, data)
        },
        rounds
      ),
      await measure(
        {
          ...each,
          name: "server, update",
          against: "undici: GET, POST",
          run: Effect.suspend(() => storage.update(ids[n++ % ids.length]!)),
          bare: () => Bare.update(server, `bare/${ids[n++ % ids.length]!.key}`, data)
        },
        rounds
      )
    ]
  } finally {
    standIn.disconnect()
  }
}

const smallCases = async (rounds: number): Promise<ReadonlyArray<CaseResult>> => {
  const seed = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
  const key = Buffer.from("12345678901234567890")
  const counter = Buffer.alloc(8)
  const generateId = SecretId.generate(Buckets, "ApiKeys", "UsernamePassword")
  const { id } = Effect.runSync(generateId)
  const each = { count: 10_000, concurrency: 1 }
  const hmac = async () => createHmac("sha1", key).update(counter).digest()
  const random = async () => randomBytes(16).toString("hex")
  return [
    await measure(
      {
        ...each,
        name: "one-time password",
        against: "createHmac",
        run: TotpCodeGenerator.generate(seed, 30),
        bare: hmac
      },
      rounds
    ),
    await measure({ ...each, name: "id, generate", against: "randomBytes", run: generateId, bare: random }, rounds),
    await measure(
      { ...each, name: "id, parse", against: "", run: Effect.sync(() => SecretId.parse(Buckets, id)), bare: undefined },
      rounds
    )
  ]
}

export const secrets = async (rounds: number): Promise<ReadonlyArray<CaseResult>> => [
  ...(await memoryCases(rounds)),
  ...(await fileCases(rounds)),
  ...(await serverCases(rounds)),
  ...(await smallCases(rounds))
]
