import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawnSync } from "node:child_process"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import packageJson from "../../../package.json" with { type: "json" }
import { makeFiles } from "../generate/files.ts"
import { bareEnvironment } from "../../support/bareEnvironment.ts"

const root = resolve(import.meta.dirname, "../../..")

const layerhost = (args: ReadonlyArray<string>, cwd: string) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [`${root}/src/cli/main.ts`, ...args], {
    cwd,
    encoding: "utf8",
    env: { ...bareEnvironment, NO_COLOR: "1" }
  })
  return { status, stdout, stderr }
}

const filesOf = (directory: string): ReadonlyArray<string> =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .toSorted()

it.layer(NodeFileSystem.layer)("init", (it) => {
  it.effect("makes a service in a new directory, under its name", () =>
    Effect.gen(function* () {
      const parent = yield* makeFiles({})
      const { status, stderr, stdout } = layerhost(["init", "Fine Orders"], parent)
      assert.deepStrictEqual([status, stderr], [0, ""])
      expect(stdout).toMatchInlineSnapshot(`
        "Made the service fine-orders: 15 files. Next:

          cd 'Fine Orders'
          npm install
          npm run dev      # http://localhost:8080/greetings/Ada
        "
      `)
      const directory = join(parent, "Fine Orders")
      expect(filesOf(directory)).toMatchInlineSnapshot(`
        [
          ".dockerignore",
          ".gitignore",
          ".vscode/extensions.json",
          ".vscode/settings.json",
          "Dockerfile",
          "README.md",
          "appsettings.schema.json",
          "appsettings.yaml",
          "package.json",
          "src/GreetingApi.ts",
          "src/GreetingPlugin.ts",
          "src/main.ts",
          "src/plugins.generated.ts",
          "test/Greeting.test.ts",
          "tsconfig.json",
        ]
      `)
      const made = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"))
      assert.strictEqual(made.name, "fine-orders")
      assert.strictEqual(made.dependencies.layerhost, `^${packageJson.version}`)
      for (const file of filesOf(directory)) {
        assert.notInclude(readFileSync(join(directory, file), "utf8"), "my-service", file)
      }
      for (const range of Object.values({ ...made.dependencies, ...made.devDependencies })) {
        assert.match(String(range), /\d/)
      }
    })
  )

  it.effect("makes a package with a plugin in this directory, where only Git has been", () =>
    Effect.gen(function* () {
      const parent = yield* makeFiles({ "clock-plugin/.git/HEAD": "ref: refs/heads/main\n" })
      const directory = join(parent, "clock-plugin")
      const { status, stderr, stdout } = layerhost(["init", "--plugin"], directory)
      assert.deepStrictEqual([status, stderr], [0, ""])
      expect(stdout).toMatchInlineSnapshot(`
        "Made the plugin clock-plugin: 10 files. Next:

          npm install
          npm test
        "
      `)
      const made = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"))
      assert.deepStrictEqual(made.layerhost, { plugins: ["clock-plugin"] })
      assert.strictEqual(made.peerDependencies.layerhost, `^${packageJson.version}`)
    })
  )

  it.effect("refuses what would overwrite something, and writes nothing", () =>
    Effect.gen(function* () {
      const directory = yield* makeFiles({
        "full/a": "1",
        "full/b": "2",
        "full/c": "3",
        "full/d": "4",
        file: "",
        "---": ""
      })
      const full = layerhost(["init", "full"], directory)
      assert.deepStrictEqual([full.status, full.stdout], [1, ""])
      expect(full.stderr).toMatchInlineSnapshot(`
        "
        ERROR
          full is not empty (a, b, c and 1 more), and nothing was written: name a directory that is new or empty
        "
      `)
      assert.deepStrictEqual(filesOf(join(directory, "full")), ["a", "b", "c", "d"])
      writeFileSync(join(directory, "full/a"), "")
      expect(layerhost(["init", "file"], directory).stderr).toMatchInlineSnapshot(`
        "
        ERROR
          file is a file: name a directory that is new or empty
        "
      `)
      mkdirSync(join(directory, "…"))
      expect(layerhost(["init", "…"], directory).stderr).toMatchInlineSnapshot(`
        "
        ERROR
          "…" has no letter or digit that the name of a package could have: name another directory
        "
      `)
    })
  )
})
