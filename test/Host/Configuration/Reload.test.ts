import { assert, describe, layer as withLayer } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Logger from "effect/Logger"
import * as PlatformError from "effect/PlatformError"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import * as Configuration from "../../../src/Host/Configuration/Configuration.ts"
import * as Reload from "../../../src/Host/Configuration/Reload.ts"
import * as Section from "../../../src/Plugins/Section.ts"
import { type Files, layer, makeDirectory } from "./support.ts"

const text = (value: string) => Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed(value)))

class Mail extends Section.Service<Mail>()("mail", {
  server: text("default"),
  port: Schema.Int.pipe(Schema.withDecodingDefaultKey(Effect.succeed(25))),
  password: Schema.RedactedFromValue(Schema.String.check(Schema.isMinLength(12))).pipe(Schema.optionalKey)
}) {}
class Other extends Section.Service<Other>()("other", { name: text("default") }) {}

const sections = [Mail, Other].map((section) => ({ section, owner: "test" }))

/** Loads the configuration of a directory and follows it. */
const follow = Effect.fnUntraced(function* (directory: string, sources: Omit<Configuration.Sources, "directory"> = {}) {
  const log = yield* Queue.unbounded<string>()
  const logger = Logger.make(({ cause, logLevel, message }) =>
    Queue.offerUnsafe(
      log,
      `${logLevel} ${String(message)} ${cause.reasons.length > 0 ? Cause.pretty(cause) : ""}`.trim()
    )
  )
  const all = { ...sources, directory }
  const tree = yield* Configuration.load(all)
  const changes = yield* Reload.make({ sources: all, sections, tree, quiet: "5 millis" }).pipe(
    Effect.provideService(Logger.CurrentLoggers, new Set([logger]))
  )
  const servers = yield* Queue.unbounded<string>()
  const mail = yield* Stream.runForEach(Section.changes(Mail), ({ server }) => Queue.offer(servers, server)).pipe(
    Effect.provide(Mail.layer()),
    Effect.provideService(Section.Changes, changes),
    Effect.forkScoped
  )
  const first = yield* Queue.take(servers)
  return { changes, first, log, mail, nextServer: Queue.take(servers), nextLine: Queue.take(log) }
})

const followFiles = Effect.fnUntraced(function* (files: Files) {
  const directory = yield* makeDirectory(files)
  return { directory, ...(yield* follow(directory)) }
})

const watchers = () => process.getActiveResourcesInfo().filter((name) => /FSEvent/i.test(name)).length

withLayer(layer, { excludeTestServices: true })((test) => {
  describe("A change is offered", () => {
    test.effect("when a file is written", () =>
      Effect.gen(function* () {
        const { directory, first, nextLine, nextServer } = yield* followFiles({
          "appsettings.yaml": "mail: { server: a }"
        })
        assert.strictEqual(first, "a")
        writeFileSync(`${directory}/appsettings.yaml`, "mail: { server: b }")
        assert.strictEqual(yield* nextServer, "b")
        assert.strictEqual(yield* nextLine, "Info The configuration has changed: mail")
      })
    )

    test.effect("when a file is replaced by another, again and again", () =>
      Effect.gen(function* () {
        const { directory, nextServer } = yield* followFiles({ "appsettings.yaml": "" })
        for (const server of ["a", "b", "c"]) {
          writeFileSync(`${directory}/new`, `mail: { server: ${server} }`)
          renameSync(`${directory}/new`, `${directory}/appsettings.yaml`)
          assert.strictEqual(yield* nextServer, server)
        }
      })
    )

    test.effect("when a file is deleted, and when it is there again", () =>
      Effect.gen(function* () {
        const { directory, nextServer } = yield* followFiles({ "appsettings.json": { mail: { server: "a" } } })
        rmSync(`${directory}/appsettings.json`)
        assert.strictEqual(yield* nextServer, "default")
        writeFileSync(`${directory}/appsettings.json`, '{"mail":{"server":"b"}}')
        assert.strictEqual(yield* nextServer, "b")
      })
    )

    test.effect("when a mounted volume swaps the link through which its files are reached", () =>
      Effect.gen(function* () {
        const volume = yield* makeDirectory({ "..1/appsettings.yaml": "mail: { server: a }" })
        symlinkSync("..1", `${volume}/..data`)
        symlinkSync("..data/appsettings.yaml", `${volume}/appsettings.yaml`)
        const main = yield* makeDirectory({})
        const { first, nextServer } = yield* follow(main, { environment: { HOST_ADDITIONALCONFIGPATHS: volume } })
        assert.strictEqual(first, "a")
        for (const [version, server] of [
          [2, "b"],
          [3, "c"]
        ] as const) {
          mkdirSync(`${volume}/..${version}`)
          writeFileSync(`${volume}/..${version}/appsettings.yaml`, `mail: { server: ${server} }`)
          symlinkSync(`..${version}`, `${volume}/..data_tmp`)
          renameSync(`${volume}/..data_tmp`, `${volume}/..data`)
          rmSync(`${volume}/..${version - 1}`, { recursive: true })
          assert.strictEqual(yield* nextServer, server)
        }
      })
    )

    test.effect("when a file changes to which a link leads", () =>
      Effect.gen(function* () {
        const elsewhere = yield* makeDirectory({ "mail.conf": "mail: { server: a }" })
        const main = yield* makeDirectory({})
        symlinkSync(`${elsewhere}/mail.conf`, `${main}/appsettings.yaml`)
        const { nextServer } = yield* follow(main)
        writeFileSync(`${elsewhere}/mail.conf`, "mail: { server: b }")
        assert.strictEqual(yield* nextServer, "b")
      })
    )

    test.effect("when a file comes up in a new folder of an additional directory", () =>
      Effect.gen(function* () {
        const main = yield* makeDirectory({ "more/.keep": "" })
        const { nextServer } = yield* follow(main, { args: ["--HOST:ADDITIONALCONFIGPATHS=more"] })
        mkdirSync(`${main}/more/a/b`, { recursive: true })
        writeFileSync(`${main}/more/a/b/appsettings.yaml`, "mail: { server: a }")
        assert.strictEqual(yield* nextServer, "a")
      })
    )

    test.effect("when a whole directory goes away and comes back", () =>
      Effect.gen(function* () {
        const main = yield* makeDirectory({ "more/appsettings.yaml": "mail: { server: a }" })
        const { nextLine, nextServer } = yield* follow(main, { args: ["--HOST:ADDITIONALCONFIGPATHS=more"] })
        rmSync(`${main}/more`, { recursive: true })
        assert.match(yield* nextLine, /^Error [^]*\/more: a directory of host:additionalConfigPaths does not exist/)
        mkdirSync(`${main}/more`)
        writeFileSync(`${main}/more/appsettings.yaml`, "mail: { server: b }")
        assert.strictEqual(yield* nextServer, "b")
      })
    )

    test.effect("to the sections that it concerns, and the log names those that nobody follows", () =>
      Effect.gen(function* () {
        const { changes, directory, mail, nextLine, nextServer } = yield* followFiles({})
        writeFileSync(`${directory}/appsettings.yaml`, "other: { name: x }")
        assert.strictEqual(
          yield* nextLine,
          "Warn The configuration has changed, for the next start of the service: other"
        )
        const names = yield* Queue.unbounded<unknown>()
        yield* Effect.forkScoped(Stream.runForEach(changes(Other)!, (value) => Queue.offer(names, value)))
        assert.deepEqual(yield* Queue.take(names), { name: "x" })
        writeFileSync(`${directory}/appsettings.yaml`, "other: { name: y }\nmail: { server: a }")
        assert.deepEqual(yield* Queue.take(names), { name: "y" })
        assert.strictEqual(yield* nextServer, "a")
        assert.strictEqual(yield* nextLine, "Info The configuration has changed: mail, other")
        yield* Fiber.interrupt(mail)
      })
    )
  })

  describe("A change is not offered", () => {
    test.effect("unless all of the configuration is valid; the log has the report, without secrets", () =>
      Effect.gen(function* () {
        const { directory, nextLine, nextServer } = yield* followFiles({ "appsettings.yaml": "mail: { server: a }" })
        const file = `${directory}/appsettings.yaml`
        writeFileSync(file, "mail: { server: b, port: lots, password: canary }\nother: { nmae: x }")
        const line = yield* nextLine
        assert.match(
          line,
          /^Error The changed configuration is not used, since it is not valid\. 2 configuration errors:/
        )
        assert.include(line, `mail:port: expected a number, found "lots"\n      from ${file}:1:26 (plugin test)`)
        assert.include(line, "did you mean other:name?")
        assert.notInclude(line, "canary")
        writeFileSync(file, "mail: { server: c")
        assert.include(yield* nextLine, "appsettings.yaml:1:18")
        writeFileSync(file, "mail: { server: a }")
        assert.strictEqual(yield* nextLine, "Info The configuration is valid again")
        writeFileSync(file, "mail: { server: d }")
        assert.strictEqual(yield* nextServer, "d")
      })
    )

    test.effect("where a source of higher rank sets the key", () =>
      Effect.gen(function* () {
        const directory = yield* makeDirectory({ "appsettings.yaml": "mail: { server: a }" })
        const { first, nextServer } = yield* follow(directory, { environment: { MAIL_SERVER: "v" } })
        assert.strictEqual(first, "v")
        writeFileSync(`${directory}/appsettings.yaml`, "mail: { server: b }")
        writeFileSync(`${directory}/appsettings.yaml`, "mail: { server: c, port: 26 }")
        assert.strictEqual(yield* nextServer, "v")
      })
    )
  })

  describe("Watchers", () => {
    test.effect("are one for a directory, whatever the number of its files, and end with the scope", () =>
      Effect.gen(function* () {
        const before = watchers()
        yield* Effect.scoped(
          Effect.gen(function* () {
            const files = Object.fromEntries(
              Array.from({ length: 50 }, (_, i) => [`appsettings.${i}.json`, { mail: { server: `s${i}` } }])
            )
            const { directory, nextServer } = yield* followFiles(files)
            assert.strictEqual(watchers(), before + 1)
            writeFileSync(`${directory}/appsettings.z.json`, '{"mail":{"server":"z"}}')
            assert.strictEqual(yield* nextServer, "z")
            assert.strictEqual(watchers(), before + 1)
          })
        )
        assert.strictEqual(watchers(), before)
      })
    )

    for (const [title, watch, hint] of [
      [
        "that the system refuses",
        Stream.fail(PlatformError.systemError({ _tag: "Unknown", module: "FileSystem", method: "watch" })),
        /watched(?!;)/
      ],
      [
        "for which the system has none left",
        Stream.die(new Error("ENOSPC: System limit for number of file watchers reached, watch '/x'")),
        /: raise fs\.inotify\.max_user_watches and fs\.inotify\.max_user_instances/
      ],
      ["that end by themselves", Stream.empty, /watched(?!;)/]
    ] as const) {
      test.effect(`${title} are told of once, and the service goes on`, () =>
        Effect.gen(function* () {
          const fs = yield* FileSystem.FileSystem
          const directory = yield* makeDirectory({ "more/.keep": "" })
          const limited: FileSystem.FileSystem = {
            ...fs,
            watch: (path, options) => (path.endsWith("more") ? watch : fs.watch(path, options))
          }
          const { nextLine, nextServer } = yield* follow(directory, {
            args: ["--HOST:ADDITIONALCONFIGPATHS=more"]
          }).pipe(Effect.provideContext(Context.make(FileSystem.FileSystem, limited)))
          const warning = yield* nextLine
          assert.match(warning, /^Warn Changes in .*\/more go unnoticed, since it cannot be watched/)
          assert.match(warning, hint)
          for (const server of ["a", "b"]) {
            writeFileSync(`${directory}/appsettings.yaml`, `mail: { server: ${server} }`)
            assert.strictEqual(yield* nextServer, server)
            assert.strictEqual(yield* nextLine, "Info The configuration has changed: mail")
          }
        })
      )
    }
  })

  test.effect("without a host that reloads, a section's values are those of the start alone", () =>
    Effect.gen(function* () {
      const values = yield* Stream.runCollect(Section.changes(Other)).pipe(Effect.provide(Other.layer({ name: "x" })))
      assert.deepEqual([...values], [{ name: "x" }])
    })
  )
})
