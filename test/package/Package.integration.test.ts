import * as attw from "@arethetypeswrong/core"
import { afterAll, assert, beforeAll, it } from "vitest"
import { execFileSync, spawn } from "node:child_process"
import { readFileSync, readdirSync } from "node:fs"
import { join, resolve } from "node:path"
import { createInterface } from "node:readline"
import { publint } from "publint"
import { rolldown } from "rolldown"
import packageJson from "../../package.json" with { type: "json" }
import { toDist, toSource } from "../../scripts/entryPoints.ts"
import * as PackedPackage from "../support/PackedPackage.ts"

const root = resolve(import.meta.dirname, "../..")
let directory: string
let tarball: string
let project: string

/** What the package needs beside itself, and what a project in TypeScript has. */
const packages = [...Object.keys(packageJson.dependencies), ...Object.keys(packageJson.peerDependencies), "@types/node"]

const main = `import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Host, Plugin, Section } from "layerhost"
import { HealthCheck, type Validated } from "layerhost/Plugins"
import { HostStartError } from "layerhost/Host"
import { MemoryBackend, SecretStorage, BucketSet } from "layerhost/SecretStore"

export class Customers extends Context.Service<Customers, { readonly count: number }>()("consumer/Customers") {}
class Limits extends Section.Service<Limits>()("limits", { max: Schema.Int }) {}
class Storage extends SecretStorage.Service<Storage>()("consumer/Storage", BucketSet.make("Keys", { Api: 0 })) {}

const customers = Plugin.make({
  id: "customers",
  config: [Limits],
  services: Layer.effect(Customers, Effect.map(Limits, ({ max }) => ({ count: max }))),
  healthChecks: [HealthCheck.make({ name: "customers", tags: ["readiness"], check: Effect.succeed(HealthCheck.healthy()) })]
})
const orders = Plugin.make({
  id: "orders",
  services: Storage.layer.pipe(Layer.provide(MemoryBackend.layer())),
  routes: HttpRouter.add("GET", "/count", Effect.map(Customers, ({ count }) => HttpServerResponse.text(String(count))))
})

export type Checked = Validated<[typeof customers, typeof orders]>
export const isStartError = (error: unknown): error is HostStartError => error instanceof HostStartError

// @ts-expect-error nobody provides Customers
export const refused = Host.HostLive([orders])

Host.runMain([customers, orders])
`

beforeAll(() => {
  directory = PackedPackage.makeDirectory()
  tarball = PackedPackage.pack(directory)
  project = join(directory, "consumer")
  PackedPackage.makeProject(project, {
    tarball,
    packages,
    files: {
      "package.json": { name: "consumer", type: "module", dependencies: { effect: "*", layerhost: "*" } },
      "tsconfig.json": {
        compilerOptions: {
          target: "es2024",
          module: "nodenext",
          strict: true,
          exactOptionalPropertyTypes: true,
          skipLibCheck: false,
          noEmit: true,
          allowImportingTsExtensions: true,
          types: ["node"]
        },
        include: ["src"]
      },
      "appsettings.yaml": "limits:\n  max: 7\n",
      "src/main.ts": main,
      "src/plugin.ts": `import { Plugin } from "layerhost"\nexport const own = Plugin.make({ id: "own" })\n`
    }
  })
}, 180_000)

afterAll(() => PackedPackage.removeDirectory(directory))

it("has entries in the sources here, and in what is built there", () => {
  const source = readFileSync(join(root, "package.json"), "utf8")
  assert.strictEqual(toSource(source), source)
  assert.strictEqual(toSource(toDist(source)), source)
  const packed = readFileSync(join(directory, "consumer/node_modules/layerhost/package.json"), "utf8")
  assert.strictEqual(packed, toDist(source))
  assert.strictEqual(readFileSync(join(directory, "repository/package.json"), "utf8"), source)
})

it("holds modules, declarations, templates and the documents, and nothing else", () => {
  const files = readdirSync(join(project, "node_modules/layerhost"), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(project.length + "/node_modules/layerhost/".length))
  const built = /^dist\/(templates\/.*|(?!cli\/).*\.d\.ts|.*\.js)$/
  const others = files.filter((file) => !built.test(file))
  assert.deepStrictEqual(others.toSorted(), ["CHANGELOG.md", "LICENSE", "README.md", "package.json"])
  assert.isAbove(files.length, 300)
})

it("finds the grace of publint", async () => {
  const { messages } = await publint({ pkgDir: join(project, "node_modules/layerhost"), pack: false, strict: true })
  assert.deepStrictEqual(messages, [])
})

it("has the right types", async () => {
  const analysis = await attw.checkPackage(attw.createPackageFromTarballData(readFileSync(tarball)))
  if (analysis.types === false) assert.fail("The package has no types")
  // The package holds ES modules alone: how older resolutions would see it does not matter.
  const entries = Object.entries(analysis.entrypoints)
  assert.includeMembers(
    entries.map(([name]) => name),
    Object.keys(packageJson.exports)
  )
  for (const kind of ["node16-esm", "bundler"] as const) {
    for (const [name, { resolutions }] of entries) {
      assert.deepStrictEqual(resolutions[kind].visibleProblems ?? [], [], `${name} in ${kind}`)
    }
  }
  const ignored = new Set(["NoResolution", "CJSResolvesToESM"])
  assert.deepStrictEqual(
    analysis.problems.filter(({ kind }) => !ignored.has(kind)),
    []
  )
})

it("type-checks in a strict project that checks declarations, too", () => {
  const tsc = join(root, "node_modules/typescript/bin/tsc")
  const options = { cwd: project, encoding: "utf8", env: PackedPackage.environment } as const
  assert.strictEqual(execFileSync(process.execPath, [tsc, "-p", "."], options), "")
}, 120_000)

it("runs a host that answers, and stops", async () => {
  const child = spawn(process.execPath, ["--import", "layerhost/QuickStart", "src/main.ts"], {
    cwd: project,
    env: { PATH: process.env["PATH"], HOST_URLS: "http://127.0.0.1:0", LOGGING_FORMAT: "json" },
    stdio: ["ignore", "pipe", "inherit"]
  })
  const ended = new Promise<number | null>((resolveEnded) => child.once("exit", resolveEnded))
  let url: string | undefined
  for await (const line of createInterface({ input: child.stdout })) {
    url = /"message":"Listening on (http:[^",]+)/.exec(line)?.[1]
    if (url !== undefined) break
  }
  const response = await fetch(`${url}/count`)
  assert.deepStrictEqual([response.status, await response.text()], [200, "7"])
  assert.strictEqual((await fetch(`${url}/health/readiness`)).status, 200)
  child.kill("SIGTERM")
  assert.strictEqual(await ended, 0)
})

it("brings a command that runs", () => {
  const command = join(project, "node_modules/layerhost/dist/cli/main.js")
  const layerhost = (...args: ReadonlyArray<string>) =>
    execFileSync(process.execPath, [command, ...args], { cwd: project, encoding: "utf8" })
  assert.include(layerhost("--version"), packageJson.version)
  assert.include(layerhost("generate"), "src/plugins.generated.ts: 2 plugins, written")
  const list = readFileSync(join(project, "src/plugins.generated.ts"), "utf8")
  assert.include(list, `import { secretStore } from "layerhost/SecretStore"`)
})

it("is shaken: who uses the secret store alone gets neither the host nor what it needs", async () => {
  const modules = await bundle(`export { BucketSet, FileBackend, SecretStorage } from "layerhost/SecretStore"`)
  assert.isTrue(modules.some((file) => file.includes("/layerhost/dist/SecretStore/SecretStorage.js")))
  assert.deepStrictEqual(
    modules.filter((file) => /\/layerhost\/dist\/(Host|cli|Plugins\/Plugin)\b/.test(file)),
    []
  )
  assert.deepStrictEqual(
    modules.filter((file) => /opentelemetry|otlp|\/(redis|yaml|oxc-parser|undici)\//i.test(file)),
    []
  )
})

it("is shaken: nothing is left of entries whose exports nobody uses", async () => {
  const entries = Object.keys(packageJson.exports).filter((name) => name !== "./package.json")
  const modules = await bundle(
    entries.map((name) => `import ${JSON.stringify(`layerhost${name.slice(1)}`)}`).join("\n")
  )
  assert.deepStrictEqual(
    modules.filter((file) => file.includes("/layerhost/")),
    []
  )
})

/** The modules of which a bundle holds anything. */
const bundle = async (text: string): Promise<ReadonlyArray<string>> => {
  const entry = join(project, "entry.js")
  const build = await rolldown({
    input: entry,
    cwd: project,
    platform: "node",
    logLevel: "silent",
    plugins: [
      {
        name: "entry",
        load: (id) => (id === entry ? text : undefined),
        resolveId: (id) => (id === entry ? id : undefined)
      }
    ]
  })
  const { output } = await build.generate({ format: "esm" })
  await build.close()
  return output.flatMap((chunk) =>
    chunk.type === "chunk"
      ? Object.entries(chunk.modules).flatMap(([file, { renderedLength }]) =>
          renderedLength > 0 && file !== entry ? file : []
        )
      : []
  )
}
