import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as Stream from "effect/Stream"
import { spawn, spawnSync } from "node:child_process"
import * as fs from "node:fs"
import * as path from "node:path"
import * as FileBackend from "../../src/SecretStore/FileBackend.ts"
import { NodeFs } from "../../src/SecretStore/NodeFiles.ts"
import { SecretBackend } from "../../src/SecretStore/SecretBackend.ts"
import type { SecretId } from "../../src/SecretStore/SecretId.ts"
import { revealed } from "./SecretStorageTest.ts"
import { CredentialStorage, login } from "./support/Credentials.ts"
import { filesBelow, fileSystemWith, platform, temporaryDirectory } from "./support/Files.ts"

const over =
  (root: string, files: typeof platform | ReturnType<typeof fileSystemWith> = platform) =>
  <A, E>(effect: Effect.Effect<A, E, CredentialStorage | SecretBackend>) =>
    Effect.provide(
      effect,
      CredentialStorage.layer.pipe(
        Layer.provideMerge(FileBackend.layer({ path: root })),
        Layer.provide(files),
        Layer.provide(Logger.layer([]))
      )
    )

const create = (password: string) => CredentialStorage.use((storage) => storage.create("ApiKeys", login(password)))

const fileOf = ({ bucket, key, type }: SecretId) => path.join("Credentials", bucket, type, `${key}.json`)

const script = (name: string) => path.join(import.meta.dirname, "support", name)

/** Only the system's administrator can make others' files, or small disks. */
const isRoot = process.getuid?.() === 0

describe("FileBackend with a full disk", () => {
  // A disk of its own, as small as the system lets it be.
  const smallDisk = Effect.acquireRelease(
    Effect.gen(function* () {
      const directory = yield* temporaryDirectory
      const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=160k", "tmpfs", directory])
      return { directory, isMounted: status === 0 }
    }),
    ({ directory, isMounted }) => Effect.sync(() => void (isMounted && spawnSync("umount", [directory])))
  )

  it.effect.skipIf(!isRoot)("fails what does not fit, keeps the rest, and goes on when there is room", ({ skip }) =>
    Effect.gen(function* () {
      const { directory, isMounted } = yield* smallDisk
      if (!isMounted) return skip()
      yield* Effect.gen(function* () {
        const storage = yield* CredentialStorage
        const kept: Array<readonly [Effect.Success<ReturnType<typeof create>>, string]> = []
        const large = (i: number) => `${i}:${"x".repeat(9000)}`
        const fill = Effect.forever(
          Effect.suspend(() => {
            const password = large(kept.length)
            return Effect.map(create(password), (id) => kept.push([id, password]))
          })
        )
        expect((yield* Effect.flip(fill))._tag).toBe("SecretBackendUnavailable")
        expect(kept.length).toBeGreaterThan(3)
        const [first, before] = kept[0]!
        const full = yield* Effect.flip(storage.update(first, login(large(1))))
        expect(full._tag).toBe("SecretBackendUnavailable")
        expect(full.message).toContain("ENOSPC")
        for (const [id, password] of kept) expect(revealed(yield* storage.get(id))).toMatchObject({ password })
        expect(filesBelow(directory)).toEqual(kept.map(([id]) => fileOf(id)).toSorted())

        const [last] = kept.pop()!
        yield* storage.delete(last)
        const again = yield* create(before)
        expect(revealed(yield* storage.get(again))).toMatchObject({ password: before })
      }).pipe(over(directory))
    })
  )
})

describe("FileBackend in a directory of others", () => {
  /** What a process without rights over everything comes to hear. */
  const attempt = (root: string, id: SecretId) =>
    Object.fromEntries(
      spawnSync(process.execPath, [script("attempt.ts"), root, id.id], {
        encoding: "utf8",
        ...(isRoot && { uid: 65534, gid: 65534 })
      })
        .stdout.trim()
        .split("\n")
        .map((line) => [line.slice(0, line.indexOf(" ")), line.slice(line.indexOf(" ") + 1)])
    )

  const chown = (root: string) => {
    if (!isRoot) return
    for (const entry of ["", ...(fs.readdirSync(root, { recursive: true }) as Array<string>)]) {
      fs.chownSync(path.join(root, entry), 65534, 65534)
    }
  }

  it.effect("that is read-only, reads go on, writes fail, and the readiness check tells", () =>
    Effect.gen(function* () {
      const root = yield* temporaryDirectory
      const id = yield* create("1").pipe(over(root))
      chown(root)
      const directories = ["", "Credentials", "Credentials/ApiKeys", "Credentials/ApiKeys/UsernamePassword"]
      for (const directory of directories) fs.chmodSync(path.join(root, directory), 0o500)
      const heard = attempt(root, id)
      for (const directory of directories) fs.chmodSync(path.join(root, directory), 0o700)
      expect(heard).toMatchObject({ get: "done", health: "Unhealthy" })
      for (const operation of ["create", "update", "delete"]) {
        expect(heard[operation]).toMatch(/^SecretBackendUnavailable: [^]*(PermissionDenied|EACCES|readonly|unable)/)
      }
      expect(filesBelow(root)).toEqual([fileOf(id)])
    })
  )

  it.effect.skipIf(!isRoot)("that has another owner, everything fails, and nothing is taken for missing", () =>
    Effect.gen(function* () {
      const root = yield* temporaryDirectory
      const id = yield* create("1").pipe(over(root))
      const heard = attempt(root, id)
      expect(heard).toMatchObject({ health: "Unhealthy" })
      for (const operation of ["get", "create", "update", "delete"]) {
        expect(heard[operation]).toMatch(/^SecretBackendUnavailable: /)
      }
      expect(filesBelow(root)).toEqual([fileOf(id)])
    })
  )
})

describe("FileBackend beside what it did not write", () => {
  it.effect("follows no link below its root, and touches nothing behind one; the root itself may be one", () =>
    Effect.gen(function* () {
      const outside = yield* temporaryDirectory
      const real = path.join(outside, "real")
      const root = path.join(outside, "root")
      fs.mkdirSync(real)
      fs.symlinkSync(real, root)
      const ids = yield* Effect.all([create("1"), create("2")]).pipe(over(root))
      const victim = path.join(outside, "victim.json")
      fs.renameSync(path.join(root, fileOf(ids[0])), victim)
      fs.symlinkSync(victim, path.join(root, fileOf(ids[0])))
      const elsewhere = path.join(outside, "elsewhere")
      fs.mkdirSync(elsewhere)
      fs.symlinkSync(elsewhere, path.join(root, "Credentials", "ServiceAccounts"))
      const before = fs.readFileSync(victim, "utf8")
      yield* Effect.gen(function* () {
        const storage = yield* CredentialStorage
        const operations: ReadonlyArray<Effect.Effect<unknown, { readonly message: string }>> = [
          storage.get(ids[0]),
          storage.update(ids[0], login("3")),
          storage.delete(ids[0]),
          storage.create("ServiceAccounts", login("3"))
        ]
        for (const operation of operations) {
          expect((yield* Effect.flip(operation)).message).toContain("a symbolic link, which is not followed")
        }
        expect(revealed(yield* storage.get(ids[1]))).toMatchObject({ password: "2" })
      }).pipe(over(root))
      expect(fs.readFileSync(victim, "utf8")).toBe(before)
      expect(fs.readdirSync(elsewhere)).toEqual([])
    })
  )

  it.effect("passes over stray files and directories", () =>
    Effect.gen(function* () {
      const root = yield* temporaryDirectory
      const id = yield* create("1").pipe(over(root))
      const directory = path.join(root, path.dirname(fileOf(id)))
      const strays = ["README.md", `${id.key}.json.bak`, `${id.key.toUpperCase()}.json`, ".DS_Store", "x.json"]
      for (const stray of strays) fs.writeFileSync(path.join(directory, stray), "stray")
      fs.mkdirSync(path.join(root, "lost+found"))
      fs.writeFileSync(path.join(root, "Credentials", "stray"), "stray")
      const listed = CredentialStorage.use((storage) => Stream.runCollect(storage.list("ApiKeys")))
      expect((yield* listed.pipe(over(root))).map(({ key }) => key)).toEqual([id.key])
      yield* CredentialStorage.use((storage) => storage.delete(id)).pipe(over(root))
      expect(fs.readdirSync(directory).toSorted()).toEqual(strays.toSorted())
    })
  )
})

describe("FileBackend with two processes on one directory", () => {
  it.live("loses no update of either: versions hold across processes", () =>
    Effect.gen(function* () {
      const root = yield* temporaryDirectory
      const ids = yield* Effect.all([create("0"), create("0"), create("0")]).pipe(over(root))
      const times = 15
      const increment = Effect.promise(async () => {
        const child = spawn(
          process.execPath,
          [script("incrementer.ts"), root, String(times), ...ids.map(({ id }) => id)],
          {
            stdio: ["ignore", "pipe", "inherit"]
          }
        )
        const text = (await child.stdout.toArray()).join("")
        return Number(/conflicts (\d+)/.exec(text)?.[1])
      })
      const conflicts = yield* Effect.all([increment, increment], { concurrency: 2 })
      for (const id of ids) {
        const secret = yield* CredentialStorage.use((storage) => storage.get(id)).pipe(over(root))
        expect(revealed(secret)).toMatchObject({ password: String(2 * times) })
      }
      expect(filesBelow(root).length).toBe(3)
      expect(conflicts.every(Number.isInteger)).toBe(true)
    })
  )
})

describe("FileBackend with many secrets in one bucket", () => {
  /** So many by default; LAYERHOST_TEST_SECRETS=100000 is the full size. */
  const many = Number(process.env["LAYERHOST_TEST_SECRETS"] ?? 2000)

  it.effect(`does as much for one of ${many} as for the only one, and lists none of them`, () =>
    Effect.gen(function* () {
      const root = yield* temporaryDirectory
      const asked: Array<string> = []
      const recorded = <A extends object>(real: A): A =>
        new Proxy(real, {
          get: (target, name, receiver) => {
            const method: unknown = Reflect.get(target, name, receiver)
            if (typeof method !== "function") return method
            return (...args: ReadonlyArray<unknown>) => {
              asked.push(String(name))
              return Reflect.apply(method, target, args)
            }
          }
        })
      const counted = Layer.merge(
        fileSystemWith((real) =>
          Object.fromEntries(Object.keys(real).map((name) => [name, Reflect.get(recorded(real), name)]))
        ),
        Layer.succeed(NodeFs, recorded(fs as NodeFs))
      )
      yield* Effect.gen(function* () {
        const storage = yield* CredentialStorage
        const id = yield* create("1")
        const work = Effect.gen(function* () {
          asked.length = 0
          const start = performance.now()
          for (let round = 0; round < 20; round++) {
            yield* storage.get(id)
            yield* storage.exists(id)
            yield* storage.update(id, login("1"))
            yield* storage.delete(yield* create("2"))
          }
          return { asked: asked.join(), millis: performance.now() - start }
        })
        yield* work
        const alone = yield* work
        const directory = path.join(root, path.dirname(fileOf(id)))
        const content = fs.readFileSync(path.join(root, fileOf(id)))
        for (let i = 0; i < many; i++) {
          fs.writeFileSync(path.join(directory, `${i.toString(16).padStart(32, "0")}.json`), content)
        }
        const among = yield* work
        expect(among.asked).toBe(alone.asked)
        expect(among.asked).not.toContain("readDirectory")
        expect(among.asked).toContain("readFile")
        if (many > 2000) process.stderr.write(`20 rounds: alone ${alone.millis} ms, among ${many} ${among.millis} ms\n`)
        expect(yield* Stream.runCount(storage.list("ApiKeys"))).toBe(many + 1)
      }).pipe(over(root, counted))
    })
  )
})
