import { assert, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { resolve } from "node:path"
import * as NodeProcess from "./support/NodeProcess.ts"
import { bareEnvironment } from "./support/bareEnvironment.ts"

const root = resolve(import.meta.dirname, "..")

/** Where a program keeps what was compiled. */
const cacheDirectory = (environment: Readonly<Record<string, string>> = {}): string =>
  execFileSync(
    process.execPath,
    ["--import", "layerhost/QuickStart", "-p", "process.getBuiltinModule('node:module').getCompileCacheDir()"],
    { cwd: root, env: { ...bareEnvironment, NODE_COMPILE_CACHE: undefined, ...environment }, encoding: "utf8" }
  ).trim()

it("keeps what was compiled among the packages, where a variable does not say otherwise", () => {
  assert.include(cacheDirectory(), resolve(root, "node_modules/.cache/layerhost"))
  const elsewhere = resolve(root, "node_modules/.cache/elsewhere")
  assert.include(cacheDirectory({ NODE_COMPILE_CACHE: elsewhere }), elsewhere)
  assert.strictEqual(cacheDirectory({ NODE_DISABLE_COMPILE_CACHE: "1" }), "undefined")
})

it("keeps nothing where nobody may write, and lets the program run", () => {
  assert.strictEqual(cacheDirectory({ NODE_COMPILE_CACHE: "/dev/null/cache" }).startsWith("/dev/null"), false)
})

it("lets a service run as it does without", async () => {
  const service = NodeProcess.start("examples/hello/src/main.ts", {
    directory: "examples/hello",
    environment: {
      HOST_URLS: "http://127.0.0.1:0",
      LOGGING_FORMAT: "json",
      NODE_OPTIONS: "--import=layerhost/QuickStart"
    }
  })
  const [, url] = await service.waitFor(/"message":"Listening on (http:[^",]+)/)
  assert.deepStrictEqual(await (await fetch(`${url}/hello/Ada`)).json(), { message: "Hello, Ada!" })
  assert.include(await (await fetch(`${url}/docs`)).text(), "<!doctype html>")
  service.signal("SIGTERM")
  const { status, stderr } = await service.ended
  assert.deepStrictEqual({ status, stderr }, { status: 0, stderr: "" })
})
