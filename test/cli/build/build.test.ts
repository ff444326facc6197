import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { bareEnvironment } from "../../support/bareEnvironment.ts"
import * as NodeProcess from "../../support/NodeProcess.ts"
import * as InProcess from "../inProcess.ts"

const root = resolve(import.meta.dirname, "../../..")
let directory: string

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "layerhost-build-"))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** Makes a service of the given files, with the packages of the repository. */
const makeService = (name: string, files: Readonly<Record<string, string>>): string => {
  const service = join(directory, name)
  for (const [path, text] of Object.entries({ "package.json": `{ "type": "module" }`, ...files })) {
    mkdirSync(dirname(join(service, path)), { recursive: true })
    writeFileSync(join(service, path), text)
  }
  if (!existsSync(join(service, "node_modules"))) symlinkSync(join(root, "node_modules"), join(service, "node_modules"))
  return service
}

const build = (cwd: string, ...args: ReadonlyArray<string>) =>
  InProcess.run({ cwd, args: ["build", ...args], input: "", environment: {} })

/** Runs a file where there is nothing else. */
const run = (file: string, ...flags: ReadonlyArray<string>) => {
  const alone = join(directory, `alone-${Math.random()}.mjs`)
  cpSync(file, alone)
  if (existsSync(`${file}.map`)) cpSync(`${file}.map`, `${dirname(alone)}/main.mjs.map`)
  return spawnSync(process.execPath, [...flags, alone], { cwd: tmpdir(), encoding: "utf8", env: bareEnvironment })
}

describe("A service in one file", () => {
  const main = `
import * as Effect from "effect/Effect"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Schema from "effect/Schema"
import { Host, Plugin, Section } from "layerhost"

class Greeting extends Section.Service<Greeting>()("greeting", { text: Schema.String }) {}

Host.runMain([
  Plugin.make({
    id: "own",
    config: [Greeting],
    routes: HttpRouter.add(
      "GET",
      "/far",
      Effect.gen(function* () {
        const { text } = yield* Greeting
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        const { status } = yield* HttpClient.get(\`http://\${headers.host}/health/liveness\`)
        return HttpServerResponse.text(\`\${text} \${status}\`)
      })
    )
  })
])
`

  it("answers from a directory that holds its configuration and nothing else, and ends on SIGTERM", async () => {
    const service = makeService("service", {
      "src/main.ts": main,
      "appsettings.yaml": "greeting:\n  text: from the file of the sources, which is not in the bundle\n"
    })
    const built = await build(service)
    assert.deepStrictEqual([built.status, built.stderr], [0, ""])
    assert.match(built.stdout, /^dist\/main\.mjs: [\d,]+ modules, [\d,]+ kB\n$/)
    const file = join(service, "dist/main.mjs")
    assert.notInclude(readFileSync(file, "utf8"), "from the file of the sources")

    const place = join(directory, "place")
    mkdirSync(place)
    cpSync(file, join(place, "renamed.mjs"))
    writeFileSync(join(place, "appsettings.yaml"), "greeting:\n  text: Servus\n")
    const child = NodeProcess.start(join(place, "renamed.mjs"), {
      directory: place,
      environment: {
        HOST_URLS: "http://127.0.0.1:0",
        LOGGING_FORMAT: "json",
        NODE_OPTIONS: `--import=${join(root, "test/Host/fixtures/loadedModules.ts")}`
      }
    })
    const [, url] = await child.waitFor(/"message":"Listening on (http:[^",]+)/)
    const get = async (path: string) => (await fetch(`${url}${path}`)).text()
    // The documentation's page and the HTTP client are among what is unpacked when it is asked for.
    assert.strictEqual(await get("/far"), "Servus 200")
    assert.include(await get("/docs"), "<!doctype html>")
    assert.include(await get("/openapi.yaml"), "openapi:")
    child.signal("SIGTERM")
    const { status, stderr } = await child.ended
    assert.strictEqual(status, 0)
    const loaded: ReadonlyArray<string> = JSON.parse(stderr)
    assert.deepStrictEqual(
      loaded.filter((module) => module.startsWith("file:") && !module.startsWith(`file://${place}/`)),
      []
    )
  })

  it("keeps its list of plugins fresh", async () => {
    const service = makeService("listed", {
      "src/own.ts": `import { Plugin } from "layerhost"\nexport const own = Plugin.make({ id: "own" })\n`,
      "src/plugins.generated.ts": "",
      "src/main.ts": `import { plugins } from "./plugins.generated.ts"\nconsole.log(plugins.map(({ id }) => id).join())\n`
    })
    assert.strictEqual((await build(service, "--no-minify")).stderr, "")
    assert.strictEqual(run(join(service, "dist/main.mjs")).stdout, "own\n")
  })
})

it("holds no character beyond ASCII that could as well be an escape, and says the same", async () => {
  const text = "“Ä”, 日本, 😀"
  const main = `console.log("${text}", \`${text} \\\\é\`, /^[“😀]+$/u.test("😀“"), /\\é|\\\\é/.exec("é")?.[0], { ä: 1 }.ä)\n`
  const service = makeService("texts", {
    "src/main.ts": main,
    "src/raw.ts": `${main}console.log(String.raw\`é\\u00e9\`)`
  })
  const file = join(service, "dist/main.mjs")
  assert.strictEqual((await build(service)).stderr, "")
  assert.match(readFileSync(file, "utf8"), /^[\0-\x7f]+$/)
  const told = `${text} ${text} \\é true é 1\n`
  assert.strictEqual(run(file).stdout, told)
  assert.strictEqual((await build(service, "--main", "src/raw.ts")).stderr, "")
  assert.strictEqual(run(file).stdout, `${told}é\\u00e9\n`)
})

describe("What is imported later", () => {
  it("imports what was there at the start, and may be waited for while it starts", async () => {
    const files = {
      "src/shared.ts": `export const seen: Array<string> = []`,
      "src/later.ts": `import { seen } from "./shared.ts"\nseen.push("later")\nexport { createServer } from "node:http"`
    }
    const late = `import { seen } from "./shared.ts"
seen.push("start")
const done = import("./later.ts").then(async ({ createServer }) => {
  await import("./later.ts")
  console.log(seen.join(), typeof createServer)
})
`
    const service = makeService("later", { ...files, "src/main.ts": late, "src/waits.ts": `${late}await done\n` })
    for (const main of ["src/main.ts", "src/waits.ts"]) {
      assert.strictEqual((await build(service, "--main", main, "--out", "one.mjs")).stderr, "")
      const { status, stderr, stdout } = run(join(service, "one.mjs"))
      assert.deepStrictEqual({ status, stderr, stdout }, { status: 0, stderr: "", stdout: "start,later function\n" })
    }
  })

  it("has its place in the sources, with a source map", async () => {
    const service = makeService("mapped", {
      "src/main.ts": `interface Nothing {}\nconst later = (_: Nothing) => import("./later.ts")\nvoid later({})\n`,
      "src/later.ts": `interface Nothing {}\n\nexport const fail = (_: Nothing) => {\n  throw new Error("here")\n}\nfail({})\n`
    })
    assert.strictEqual((await build(service, "--sourcemap")).stderr, "")
    assert.isTrue(existsSync(join(service, "dist/main.mjs.map")))
    const { stderr } = run(join(service, "dist/main.mjs"), "--enable-source-maps")
    assert.match(stderr, /src\/later\.ts:4/)
  })
})

describe("What cannot be built", () => {
  const refused = async (service: string, ...args: ReadonlyArray<string>) => {
    const { status, stderr, stdout } = await build(service, ...args)
    assert.deepStrictEqual([status, stdout], [1, ""])
    return stderr
  }

  it("is told with what to do", async () => {
    const service = makeService("broken", {
      "src/unresolved.ts": `import x from "no-such-package"\nconsole.log(x)`,
      "src/syntax.ts": "const x = ;",
      "src/native.ts": `import "../build/addon.node"`,
      "build/addon.node": "native"
    })
    assert.include(await refused(service), "src/main.ts does not exist")
    assert.include(await refused(service, "--main", "src/syntax.ts", "--out", "x.ts"), "ends in .mjs")
    assert.include(await refused(service, "--main", "src/syntax.ts"), "src/syntax.ts:1:11")
    assert.include(
      await refused(service, "--main", "src/unresolved.ts"),
      "Could not resolve 'no-such-package' in src/unresolved.ts: install it, or leave it out with --external"
    )
    assert.include(await refused(service, "--main", "src/native.ts"), "addon.node has native code")
    assert.isFalse(existsSync(join(service, "dist")))
  })

  it("is built without what is left out", async () => {
    const service = makeService("external", { "src/main.ts": `import { parse } from "yaml"\nconsole.log(parse("1"))` })
    assert.strictEqual((await build(service, "--external", "yaml")).stderr, "")
    const file = join(service, "dist/main.mjs")
    assert.include(run(file).stderr, "Cannot find package 'yaml'")
    assert.strictEqual(spawnSync(process.execPath, [file], { encoding: "utf8" }).stdout, "1\n")
  })
})
