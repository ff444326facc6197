import { assert, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { resolve } from "node:path"
import { bareEnvironment } from "./support/bareEnvironment.ts"

const root = resolve(import.meta.dirname, "..")

/** Where a program keeps what was compiled. */
const cacheDirectory = (environment: Readonly<Record<string, string>> = {}): string =>
  execFileSync(
    process.execPath,
    ["--import", "layerhost/CompileCache", "-p", "process.getBuiltinModule('node:module').getCompileCacheDir()"],
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
