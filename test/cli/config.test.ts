import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawnSync } from "node:child_process"
import { symlinkSync } from "node:fs"
import * as nodePath from "node:path"
import { makeFiles } from "./generate/files.ts"
import { bareEnvironment } from "../support/bareEnvironment.ts"

const root = nodePath.resolve(import.meta.dirname, "../..")

/** Runs the command as a shell would, with nothing of this environment but the path. */
const layerhost = (args: ReadonlyArray<string>, cwd: string, environment: Readonly<Record<string, string>> = {}) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [`${root}/src/cli/main.ts`, ...args], {
    cwd,
    encoding: "utf8",
    env: { ...bareEnvironment, NO_COLOR: "1", ...environment }
  })
  return { status, stdout, stderr }
}

/** A service with one section, whose plugin would be noticed if anything of it ran. */
const shop = {
  "package.json": { type: "module" },
  "src/ShopPlugin.ts": `
    import * as Effect from "effect/Effect"
    import * as Layer from "effect/Layer"
    import * as Schema from "effect/Schema"
    import { Plugin, Section, Task } from "layerhost"
    const noticed = Effect.sync(() => process.stdout.write("STARTED"))
    export class Shop extends Section.Service<Shop>()("shop", {
      name: Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed("corner"))).annotateKey({ description: "What it is called." }),
      password: Schema.RedactedFromValue(Schema.String)
    }) {}
    export const shop = Plugin.make({
      id: "shop",
      config: [Shop],
      services: Layer.effectDiscard(noticed),
      tasks: [Task.make("notice", noticed)]
    })
  `,
  "src/plugins.generated.ts": `
    import { shop } from "./ShopPlugin.ts"
    export const plugins = [shop] as const
  `,
  "appsettings.yaml": "shop: { name: from yaml }\n",
  "appsettings.secrets.yaml": "shop: { password: canary }\n"
}

const makeShop = Effect.fnUntraced(function* (files: Readonly<Record<string, string | object>> = {}) {
  const directory = yield* makeFiles({ ...shop, ...files })
  symlinkSync(`${root}/node_modules`, nodePath.join(directory, "node_modules"))
  return directory
})

it.layer(NodeFileSystem.layer)("config", (it) => {
  it.effect("list prints every key with its value and its source, as the service would read it", () =>
    Effect.gen(function* () {
      const directory = yield* makeShop()
      const { status, stderr, stdout } = layerhost(["config", "list", "--", "--host:urls=http://+:1"], directory, {
        LOGGING_MINIMUMLEVEL: "debug"
      })
      assert.deepStrictEqual([status, stderr], [0, ""])
      const lines = stdout.split("\n").map((line) => line.replaceAll(/ {2,}/g, " | "))
      for (const line of [
        "KEY | VALUE | SOURCE | PLUGIN",
        "host:urls | http://+:1 | argument --host:urls | layerhost/host",
        "host:maxRequestSize | 8388608 | default | layerhost/host",
        "logging:minimumLevel | debug | environment variable LOGGING_MINIMUMLEVEL | layerhost/host",
        "logging:format | (not set) | - | layerhost/host",
        "shop:name | from yaml | appsettings.yaml:1:15 | shop",
        "shop:password | <redacted> | appsettings.secrets.yaml:1:19 | shop"
      ]) {
        assert.include(lines, line)
      }
    })
  )

  it.effect("explain prints what a key is and everything that sets it", () =>
    Effect.gen(function* () {
      const parent = yield* makeFiles({})
      const directory = yield* makeShop()
      symlinkSync(directory, `${parent}/shop`)
      const args = ["config", "explain", "SHOP:NAME", "shop", "--", "--shop:name", "last"]
      const { status, stdout } = layerhost(args, parent, { SHOP_NAME: "from a variable" })
      assert.strictEqual(status, 0)
      assert.strictEqual(
        stdout,
        `shop:name
  What it is called.
  expects  a text
  default  corner
  plugin   shop

In load order:
  overridden  shop/appsettings.yaml:1:15      from yaml
  overridden  environment variable SHOP_NAME  from a variable
  wins        argument --shop:name            last
`
      )
      const json = JSON.parse(layerhost(["config", "explain", "shop:password", "shop", "--json"], parent).stdout)
      assert.deepStrictEqual(json.sources, [
        {
          key: "shop:password",
          source: `${parent}/shop/appsettings.secrets.yaml:1:19`,
          value: "<redacted>",
          kind: "value",
          wins: true
        }
      ])
      const swapped = layerhost(["config", "explain", "shop", "shop:name"], parent)
      assert.strictEqual(swapped.status, 1)
      assert.include(swapped.stderr, "The key stands before the directory: layerhost config explain shop:name shop")
      const unknown = layerhost(["config", "explain", "shop:nmae", "shop"], parent)
      assert.strictEqual(unknown.status, 1)
      assert.include(unknown.stderr, "No section has the key shop:nmae, and nothing sets it; did you mean shop:name?")
    })
  )

  it.effect("check has status 1 and the whole report where anything is wrong", () =>
    Effect.gen(function* () {
      const directory = yield* makeShop({
        "appsettings.json": "{",
        "appsettings.secrets.yaml": "shop: { pasword: canary }"
      })
      const wrong = layerhost(["config", "check"], directory, { HOST_MAXREQUESTSIZE: "lots" })
      assert.deepStrictEqual([wrong.status, wrong.stdout], [1, ""])
      assert.strictEqual(
        wrong.stderr.replaceAll(directory, ""),
        `2 configuration errors:
  /appsettings.json:1:2: expected a key in double quotes, found the end of the file
  host:maxRequestSize: expected a number, found "lots"
      from environment variable HOST_MAXREQUESTSIZE (plugin layerhost/host)
1 warning:
  shop:pasword: unknown key; did you mean shop:password?
      from /appsettings.secrets.yaml:1:18 (plugin shop)
`
      )
      const json = layerhost(["config", "check", "--json", "--", "--shop:password=x"], directory)
      assert.deepStrictEqual([json.status, json.stderr], [1, ""])
      const answer = JSON.parse(json.stdout)
      assert.deepStrictEqual([answer.valid, answer.problems.length, answer.warnings.length], [false, 1, 1])
      const list = layerhost(["config", "list"], directory)
      assert.deepStrictEqual([list.status, list.stderr], [0, "1 configuration error: see `layerhost config check`\n"])
      assert.notInclude(list.stdout, "canary")

      const secure = yield* makeShop({
        "tls.pem": "none",
        "appsettings.json": { host: { tls: { certificatePath: "tls.pem" } } }
      })
      const unserved = layerhost(["config", "check", secure, "--", "--host:urls=https://+:1"], directory)
      assert.deepStrictEqual([unserved.status, unserved.stdout], [1, ""])
      assert.include(unserved.stderr, "host:tls:certificatePath: tls.pem holds no certificate in PEM")

      const right = layerhost(["config", "check"], yield* makeShop())
      assert.deepStrictEqual([right.status, right.stderr], [0, ""])
      assert.match(right.stdout, /^The configuration is valid: 2 files, \d+ sections\n$/)
    })
  )

  it.effect("schema prints one JSON Schema of all sections, whatever state the configuration is in", () =>
    Effect.gen(function* () {
      const directory = yield* makeShop({ "appsettings.json": "{" })
      const { status, stdout } = layerhost(["config", "schema"], directory)
      assert.strictEqual(status, 0)
      const { properties } = JSON.parse(stdout)
      assert.containsAllKeys(properties, ["host", "logging", "shop"])
      assert.strictEqual(properties.shop.properties.name.default, "corner")
    })
  )

  it.effect("the plugins come from any module that exports some, and what is missing is said", () =>
    Effect.gen(function* () {
      const directory = yield* makeShop({
        "src/plugins.generated.ts": "export const none = 1",
        "src/broken.ts": "import 'x-y'"
      })
      const named = layerhost(["config", "check", "--plugins", "src/ShopPlugin.ts"], directory)
      assert.strictEqual(named.status, 0)
      for (const [args, message] of [
        [["--plugins", "src/none.ts"], "src/none.ts does not exist: name the file that exports"],
        [["--plugins", "src/broken.ts"], "src/broken.ts cannot be imported: Error: Cannot find package 'x-y'"],
        [["."], "src/plugins.generated.ts exports no plugins: export them as a list named plugins, or name another"],
        [["nowhere"], "nowhere/src/plugins.generated.ts does not exist: run `layerhost generate`"],
        [[".", "x"], `"x" is one argument too many; arguments of the service itself stand behind --`]
      ] as const) {
        const { status, stderr } = layerhost(["config", "check", ...args], directory)
        assert.strictEqual(status, 1)
        assert.include(stderr, message)
        assert.notMatch(stderr, /\n\s+at /)
      }
    })
  )
})
