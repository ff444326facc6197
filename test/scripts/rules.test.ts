import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"
import { importDirection } from "../../scripts/importDirection.ts"
import { noConsole } from "../../scripts/noConsole.ts"
import { noSleeps } from "../../scripts/noSleeps.ts"
import { parse, type Rule } from "../../scripts/sourceRule.ts"

const linesOf = (rule: Rule, file: string, text: string) => rule(parse(file, text)).map(({ line }) => line)

describe("import direction", () => {
  const messages = (file: string, text: string) => importDirection(parse(file, text)).map(({ message }) => message)

  it.each([
    ["Host from SecretStore", "src/Host/Host.ts", `import * as S from "../SecretStore/Secret.ts"`],
    ["SecretStore from Host", "src/SecretStore/a/B.ts", `import type { Host } from "../../Host/Host.ts"`],
    ["Plugins from Host", "src/Plugins/Plugin.ts", `export * from "../Host/Host.ts"`],
    ["Plugins from SecretStore", "src/Plugins/Plugin.ts", `export { a } from "../SecretStore/a.ts"`],
    ["by import()", "src/Host/Host.ts", `const it = () => import("../SecretStore/Secret.ts")`],
    ["a command's module", "src/Host/Host.ts", `import { generate } from "../cli/generate/command.ts"`],
    ["a test", "src/Host/Host.ts", `import { fake } from "../../test/support/fake.ts"`],
    ["an index.ts", "src/Host/Host.ts", `import * as Plugins from "../Plugins/index.ts"`],
    ["an index.ts of its own folder", "src/Host/Host.ts", `import * as Host from "./index.ts"`],
    ["the package itself", "src/Host/Host.ts", `import { Plugin } from "layerhost/Plugins"`],
    ["effect's barrel", "src/Host/Host.ts", `import { Effect } from "effect"`],
    ["a barrel of effect", "src/cli/main.ts", `import { Command } from "effect/cli"`],
    ["the platform's barrel", "src/cli/main.ts", `import { NodeRuntime } from "@effect/platform-node"`],
    ["the platform", "src/SecretStore/a.ts", `import * as Fs from "@effect/platform-node/NodeFileSystem"`],
    ["in a folder without rules", "src/New/a.ts", `import * as Plugin from "../Plugins/Plugin.ts"`]
  ])("refuses %s", (_title, file, text) => {
    assert.lengthOf(messages(file, text), 1)
  })

  it.each([
    ["src/Host/Http/a.ts", `import * as Plugin from "../../Plugins/Plugin.ts"\nexport * from "../Host.ts"`],
    ["src/SecretStore/a.ts", `import * as Plugin from "../Plugins/Plugin.ts"`],
    ["src/index.ts", `export * from "./Host/index.ts"\nexport * from "./SecretStore/Secret.ts"`],
    ["src/cli/main.ts", `import json from "../../package.json" with { type: "json" }`],
    ["src/cli/main.ts", `import * as NodeRuntime from "@effect/platform-node/NodeRuntime"`],
    ["src/Host/Platform.ts", `import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"`],
    ["src/Host/a.ts", `import * as Effect from "effect/Effect"\nimport * as Api from "effect/http-api/HttpApi"`],
    ["src/Host/a.ts", `// import "effect"\nconst text = 'import "effect"'\nimport "node:fs"`]
  ])("accepts, in %s, %s", (file, text) => {
    assert.deepStrictEqual(messages(file, text), [])
  })

  it("tells line and folders", () => {
    const text = `import * as fs from "node:fs"\n\nimport { a } from "../SecretStore/a.ts"`
    assert.deepStrictEqual(importDirection(parse("src/Host/Host.ts", text)), [
      { line: 3, message: "src/Host may import from src/Host and src/Plugins only: src/SecretStore/a.ts" }
    ])
  })
})

describe("no sleeps in tests", () => {
  const lines = (text: string) => linesOf(noSleeps, "test/a.test.ts", text)

  it("finds them", () => {
    const text = [
      `yield* Effect.sleep("1 second")`,
      `setTimeout(done, 100)`,
      `await new Promise((resolve) => setTimeout(resolve, 100))`,
      `await sleep(100)`,
      `globalThis.setTimeout(done, 1) // allowed:`
    ]
    assert.deepStrictEqual(lines(text.join("\n").replaceAll("yield*", "void")), [1, 2, 3, 4, 5])
  })

  it("lets those with a reason pass, and what only looks like one", () => {
    const text = [
      `Effect.sleep("1 second") // allowed: the TestClock moves it`,
      `const text = 'Effect.sleep("1 second")' // Effect.sleep(1)`,
      `TestClock.adjust("1 second")`,
      `server.setTimeout(100)`
    ]
    assert.deepStrictEqual(lines(text.join("\n")), [])
  })
})

describe("no console in src", () => {
  it("finds it", () => {
    assert.deepStrictEqual(
      linesOf(noConsole, "src/a.ts", `const a = 1\nconsole.log(a)\nconst log = console["warn"]`),
      [2, 3]
    )
  })

  it("lets Effect's Console, comments and texts pass", () => {
    const text = `Console.log("console.log")\n// console.log(1)\nthis.console.log(1)`
    assert.deepStrictEqual(linesOf(noConsole, "src/a.ts", text), [])
  })
})

describe("as scripts, in a repository with a fault", () => {
  const run = (script: string, file: string, text: string) => {
    const cwd = mkdtempSync(join(tmpdir(), "layerhost-rules-"))
    try {
      mkdirSync(join(cwd, dirname(file)), { recursive: true })
      writeFileSync(join(cwd, file), text)
      const path = resolve(import.meta.dirname, "../../scripts", script)
      const { status, stdout } = spawnSync(process.execPath, [path], { cwd, encoding: "utf8" })
      return { status, stdout }
    } finally {
      rmSync(cwd, { recursive: true })
    }
  }

  it.each([
    ["importDirection.ts", "src/Host/a/b.ts", `import "effect"`],
    ["noSleeps.ts", "test/a/b.test.ts", "sleep(1)"],
    ["noSleeps.ts", "examples/shop/test/b.test.ts", "sleep(1)"],
    ["noConsole.ts", "src/cli/b.ts", "console.log(1)"]
  ])("%s fails and names %s", (script, file, text) => {
    const { status, stdout } = run(script, file, text)
    assert.strictEqual(status, 1)
    assert.isTrue(stdout.startsWith(`${file}:1: `), stdout)
    assert.deepStrictEqual(run(script, file, ""), { status: 0, stdout: "" })
  })
})
