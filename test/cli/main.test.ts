import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawnSync } from "node:child_process"
import * as nodePath from "node:path"
import packageJson from "../../package.json" with { type: "json" }
import { makeFiles, pluginModule } from "./generate/files.ts"

const main = nodePath.resolve(import.meta.dirname, "../../src/cli/main.ts")

/** Runs the command as a shell would. */
const layerhost = (args: ReadonlyArray<string>, cwd = ".") => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, ...args], { cwd, encoding: "utf8" })
  return { status, stdout, stderr }
}

it("shows its help and version", () => {
  const help = layerhost(["--help"])
  assert.strictEqual(help.status, 0)
  assert.match(help.stdout, /layerhost <subcommand>[^]*generate/)
  const version = layerhost(["--version"])
  assert.strictEqual(version.status, 0)
  assert.include(version.stdout, packageJson.version)
})

it("refuses what it does not know", () => {
  const command = layerhost(["frobnicate"])
  assert.strictEqual(command.status, 1)
  assert.include(command.stderr, `Unknown subcommand "frobnicate"`)
  const flag = layerhost(["generate", "--chekc"])
  assert.strictEqual(flag.status, 1)
  assert.include(flag.stderr, "--chekc")
})

it.layer(NodeFileSystem.layer)("generate", (it) => {
  it.effect("writes, checks, and names the command that helps", () =>
    Effect.gen(function* () {
      const directory = yield* makeFiles({ "shop/package.json": {}, "shop/src/a.ts": pluginModule("a") })
      const missing = layerhost(["generate", "shop", "--check"], directory)
      assert.strictEqual(missing.status, 1)
      assert.include(missing.stderr, "shop/src/plugins.generated.ts is missing: run `layerhost generate shop`")
      assert.deepStrictEqual(layerhost(["generate", "shop"], directory), {
        status: 0,
        stdout: "shop/src/plugins.generated.ts: 1 plugin, written\n",
        stderr: ""
      })
      assert.deepStrictEqual(layerhost(["generate", "--check"], `${directory}/shop`), {
        status: 0,
        stdout: "src/plugins.generated.ts: 1 plugin, fresh\n",
        stderr: ""
      })
    })
  )

  it.effect("tells what is wrong without a stack trace", () =>
    Effect.gen(function* () {
      const directory = yield* makeFiles({ "package.json": {}, "src/a.ts": `import "layerhost"; const` })
      const { status, stdout, stderr } = layerhost(["generate"], directory)
      assert.strictEqual(status, 1)
      assert.strictEqual(stdout, "")
      assert.match(stderr, /src\/a\.ts:1: syntax error/)
      assert.notMatch(stderr, /\n\s+at /)
    })
  )
})
