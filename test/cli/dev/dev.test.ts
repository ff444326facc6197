/** The command as its users meet it: a real process, real edits, a real socket. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, expect, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawn, spawnSync } from "node:child_process"
import { once } from "node:events"
import { symlinkSync, writeFileSync } from "node:fs"
import { request as httpRequest } from "node:http"
import * as nodePath from "node:path"
import { text } from "node:stream/consumers"
import { makeFiles } from "../generate/files.ts"
import { bareEnvironment } from "../../support/bareEnvironment.ts"

// Each test starts several processes, and the machine may have others to run.
vi.setConfig({ testTimeout: 90_000 })

const root = nodePath.resolve(import.meta.dirname, "../../..")
const command = `${root}/src/cli/main.ts`

const plugin = (version: string, more = "") => `
  import * as Effect from "effect/Effect"
  import * as HttpRouter from "effect/http/HttpRouter"
  import * as HttpServerRequest from "effect/http/HttpServerRequest"
  import * as HttpServerResponse from "effect/http/HttpServerResponse"
  import { Plugin } from "layerhost"
  const version: string = "${version}"
  export const shop = Plugin.make({
    id: "shop",
    routes: HttpRouter.add("POST", "/", Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      return HttpServerResponse.text(version + " " + (yield* request.text))
    }))
  })
  ${more}
`

const files = {
  "package.json": { type: "module" },
  "appsettings.yaml": "host: { urls: 'http://unix:SOCKET' }\nlogging: { minimumLevel: Error }\n",
  "tsconfig.json": {
    compilerOptions: {
      module: "nodenext",
      target: "esnext",
      strict: true,
      skipLibCheck: true,
      noEmit: true,
      allowImportingTsExtensions: true,
      types: []
    }
  },
  "src/Shop.ts": plugin("one"),
  "src/main.ts": `
    import { Host } from "layerhost"
    import { plugins } from "./plugins.generated.ts"
    Host.runMain(plugins)
  `,
  "src/plugins.generated.ts": `export const plugins = []\n`
}

const makeService = Effect.fnUntraced(function* () {
  const directory = yield* makeFiles(files)
  symlinkSync(`${root}/node_modules`, nodePath.join(directory, "node_modules"))
  const write = (file: string, contents: string) => writeFileSync(nodePath.join(directory, file), contents)
  const socketPath = nodePath.join(directory, "socket")
  write("appsettings.yaml", files["appsettings.yaml"].replace("SOCKET", socketPath))

  /** Begins a request; the answer comes once the body is ended. */
  const begin = () => {
    // Over a connection of its own: one that was kept belongs to the instance that it was made to.
    const request = httpRequest({
      socketPath,
      agent: false,
      method: "POST",
      path: "/",
      headers: { "content-type": "text/plain" }
    })
    const answer = once(request, "response").then(([response]) => text(response))
    return { request, answer }
  }
  const ask = () => {
    const { answer, request } = begin()
    request.end("?")
    return answer
  }
  return { ask, begin, directory, write }
})

/** Starts `layerhost dev`; it is killed with the scope, if it still runs. */
const start = Effect.fnUntraced(function* (cwd: string, ...args: ReadonlyArray<string>) {
  const child = spawn(process.execPath, [command, "dev", ...args], {
    cwd,
    env: { ...bareEnvironment },
    stdio: ["ignore", "pipe", "pipe"]
  })
  // Comes when every process that holds the pipes is gone, so that no other is left behind.
  const closed = once(child, "close")
  yield* Effect.addFinalizer(() =>
    Effect.promise(() => {
      child.kill("SIGKILL")
      return closed
    })
  )
  let output = ""
  let seen = 0
  let look = () => {}
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk
      look()
    })
  }
  /** Waits until every pattern is found behind what the last call found; gives what matched. */
  const waitFor = (...patterns: ReadonlyArray<RegExp>) =>
    new Promise<ReadonlyArray<string>>((resolve, reject) => {
      look = () => {
        const matches = patterns.flatMap((pattern) => pattern.exec(output.slice(seen)) ?? [])
        if (matches.length < patterns.length) return
        seen += Math.max(...matches.map((match) => output.slice(seen).indexOf(match) + match.length))
        look = () => {}
        resolve(matches)
      }
      look()
      void closed.then(() => reject(new Error(`No ${patterns.join(" and ")} in:\n${output}`)))
    })
  return { closed, signal: (signal: NodeJS.Signals) => child.kill(signal), waitFor }
})

it.layer(NodeFileSystem.layer)("dev", (it) => {
  it.effect("restarts after a change, while requests in flight finish where they began", () =>
    Effect.gen(function* () {
      const { ask, begin, directory, write } = yield* makeService()
      const { closed, signal, waitFor } = yield* start(directory, "--no-types")
      yield* Effect.promise(async () => {
        await waitFor(/Started in \d+ ms/)
        assert.strictEqual(await ask(), "one ?")

        const inFlight = begin()
        inFlight.request.write("body, ")
        await once(inFlight.request, "socket").then(([socket]) => socket.connecting && once(socket, "connect"))
        // The service has taken the connection once it answers a later one.
        await ask()
        write("src/Shop.ts", plugin("two"))
        await waitFor(/Restarted in \d+ ms/)
        assert.strictEqual(await ask(), "two ?")
        inFlight.request.end("ended")
        assert.strictEqual(await inFlight.answer, "one body, ended")

        signal("SIGINT")
        await closed
      })
    })
  )

  it.effect("goes on with what runs while the new is broken, and tells why", () =>
    Effect.gen(function* () {
      const { ask, directory, write } = yield* makeService()
      const { signal, waitFor, closed } = yield* start(directory)
      yield* Effect.promise(async () => {
        await waitFor(/Started in \d+ ms/)

        write("src/Shop.ts", plugin("two", "syntax (("))
        expect((await waitFor(/\[dev\][^]*waiting for a change\n/))[0]).toMatchInlineSnapshot(`
          "[dev] src/Shop.ts:16: syntax error: Expected \`)\` but found \`EOF\`
          Nothing was restarted; waiting for a change
          "
        `)
        assert.strictEqual(await ask(), "one ?")

        write("src/Shop.ts", plugin("two", "throw new Error('at import')"))
        expect((await waitFor(/\[dev\].*new instance.*\n/))[0]).toMatchInlineSnapshot(`
          "[dev] The new instance did not start (status 1); the one before it goes on
          "
        `)
        assert.strictEqual(await ask(), "one ?")

        write("src/Shop.ts", plugin("two", "const wrong: number = version"))
        // In any order: types are checked while the new instance starts.
        expect((await waitFor(/\[dev\] The types[^]*\d\): error.*\n/, /Restarted in/))[0]).toMatchInlineSnapshot(`
          "[dev] The types have errors:
          src/Shop.ts(15,9): error TS2322: Type 'string' is not assignable to type 'number'.
          "
        `)
        write("src/Shop.ts", plugin("three"))
        await waitFor(/The types are sound again/, /Restarted in/)
        assert.strictEqual(await ask(), "three ?")

        write("src/More.ts", plugin("four").replaceAll("shop", "more").replace('"POST", "/"', '"POST", "/more"'))
        await waitFor(/Restarted/)
        write("src/More.ts", plugin("four"))
        expect((await waitFor(/\[dev\][^]*waiting for a change\n/))[0]).toMatchInlineSnapshot(`
          "[dev] src/Shop.ts:8: the id "shop" is taken by the plugin in src/More.ts:8
          Nothing was restarted; waiting for a change
          "
        `)

        signal("SIGTERM")
        await closed
      })
    })
  )

  it.effect("leaves no process behind when it is killed itself", () =>
    Effect.gen(function* () {
      const { ask, directory } = yield* makeService()
      const { closed, signal, waitFor } = yield* start(directory, "--no-types")
      yield* Effect.promise(async () => {
        await waitFor(/Started in \d+ ms/)
        assert.strictEqual(await ask(), "one ?")
        signal("SIGKILL")
        await closed
      })
    })
  )

  it.effect("says where the program is missing", () =>
    Effect.gen(function* () {
      const directory = yield* makeFiles({ "package.json": {} })
      const { status, stderr } = spawnSync(process.execPath, [command, "dev"], { cwd: directory, encoding: "utf8" })
      assert.strictEqual(status, 1)
      expect(stderr).toMatchInlineSnapshot(`
        "
        ERROR
          src/main.ts does not exist: run this in the service's directory, or name its program with --main
        "
      `)
    })
  )
})
