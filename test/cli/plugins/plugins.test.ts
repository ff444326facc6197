import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, expect, it, vi } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { spawnSync } from "node:child_process"
import { symlinkSync } from "node:fs"
import * as nodePath from "node:path"
import { makeFiles } from "../generate/files.ts"
import { bareEnvironment } from "../../support/bareEnvironment.ts"

// Each test starts several processes, and the machine may have others to run.
vi.setConfig({ testTimeout: 90_000 })

const root = nodePath.resolve(import.meta.dirname, "../../..")

const layerhost = (args: ReadonlyArray<string>, cwd: string) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [`${root}/src/cli/main.ts`, ...args], {
    cwd,
    encoding: "utf8",
    env: { ...bareEnvironment, NO_COLOR: "1" }
  })
  return { status, stdout, stderr }
}

/** A service with two plugins, one of which needs the other, and which would be noticed if anything of them ran. */
const shop = {
  "package.json": { name: "shop", version: "2.1.0", type: "module" },
  "src/Stock.ts": `
    import * as Context from "effect/Context"
    import * as Effect from "effect/Effect"
    import * as Layer from "effect/Layer"
    import { HealthCheck, Plugin, Section } from "layerhost"
    import * as Schema from "effect/Schema"
    export class Stock extends Context.Service<Stock, { readonly count: number }>()("shop/Stock") {}
    class Settings extends Section.Service<Settings>()("stock", { size: Schema.Int }) {}
    const noticed = Effect.sync(() => { process.stdout.write("STARTED"); return { count: 1 } })
    export const stock = Plugin.make({
      id: "stock",
      config: [Settings],
      services: Layer.effect(Stock, noticed),
      healthChecks: [HealthCheck.make({ name: "shelves", tags: ["readiness"], check: Effect.succeed(HealthCheck.healthy()) })]
    })
  `,
  "src/Till.ts": `
    import * as Effect from "effect/Effect"
    import * as HttpRouter from "effect/http/HttpRouter"
    import * as HttpServerResponse from "effect/http/HttpServerResponse"
    import * as Layer from "effect/Layer"
    import { ErrorMapping, Middleware, Plugin, Task } from "layerhost"
    import { Stock } from "./Stock.ts"
    class SoldOut extends Error {}
    const count = Effect.map(Stock, ({ count }) => HttpServerResponse.text(String(count)))
    export const till = Plugin.make({
      id: "till",
      routes: Layer.merge(
        HttpRouter.add("GET", "/count/:item", count),
        Layer.effectDiscard(Effect.flatMap(Stock, () => Effect.flatMap(HttpRouter.HttpRouter, (router) => router.add("GET", "/late", count))))
      ),
      middleware: [Middleware.make({ name: "audit", order: 3, routes: "own", build: Effect.map(Stock, () => (handler) => handler) })],
      errors: [ErrorMapping.make(SoldOut, { status: 409 })],
      tasks: [Task.make("sweep", Effect.void)]
    })
  `,
  "src/plugins.generated.ts": `
    import { stock } from "./Stock.ts"
    import { till } from "./Till.ts"
    export const plugins = [stock, till] as const
  `
}

it.layer(NodeFileSystem.layer)("plugins", (it) => {
  it.effect("lists what each plugin is made of, and starts nothing", () =>
    Effect.gen(function* () {
      const directory = yield* makeFiles(shop)
      symlinkSync(`${root}/node_modules`, nodePath.join(directory, "node_modules"))
      const { status, stderr, stdout } = layerhost(["plugins"], directory)
      assert.deepStrictEqual([status, stderr], [0, ""])
      expect(stdout).toMatchInlineSnapshot(`
        "1. stock  (app, this service 2.1.0)
           provides    shop/Stock
           sections    stock
           checks      shelves

        2. till  (app, this service 2.1.0)
           requires    shop/Stock
           endpoints   GET /count/:item
                       (more, which its services add at start)
           middleware  audit (order 3, own routes only)
           errors      SoldOut
           tasks       sweep
        "
      `)
      // The same once more as data, with every field.
      expect(layerhost(["plugins", "--json"], directory).stdout).toMatchInlineSnapshot(`
        "[
          {
            "id": "stock",
            "order": 1,
            "origin": "app",
            "package": null,
            "version": "2.1.0",
            "provides": [
              "shop/Stock"
            ],
            "requires": [],
            "endpoints": [],
            "moreRoutes": false,
            "healthChecks": [
              "shelves"
            ],
            "sections": [
              "stock"
            ],
            "middleware": [],
            "errors": [],
            "tasks": []
          },
          {
            "id": "till",
            "order": 2,
            "origin": "app",
            "package": null,
            "version": "2.1.0",
            "provides": [],
            "requires": [
              "shop/Stock"
            ],
            "endpoints": [
              "GET /count/:item"
            ],
            "moreRoutes": true,
            "healthChecks": [],
            "sections": [],
            "middleware": [
              {
                "name": "audit",
                "order": 3,
                "routes": "own"
              }
            ],
            "errors": [
              "SoldOut"
            ],
            "tasks": [
              "sweep"
            ]
          }
        ]
        "
      `)
    })
  )

  it.effect("says what it cannot know without TypeScript", () =>
    Effect.gen(function* () {
      const directory = yield* makeFiles({
        "package.json": { type: "module" },
        "plugins.js": `export const plugins = []`
      })
      const { status, stderr, stdout } = layerhost(["plugins", "--plugins", "plugins.js", "--json"], directory)
      assert.deepStrictEqual([status, stdout], [0, "[]\n"])
      expect(stderr).toMatchInlineSnapshot(`
        "What the plugins provide and require is not known: TypeScript is not installed in ., or could not read its plugins. Run \`npm install --save-dev typescript\` there.
        "
      `)
    })
  )

  it.effect("says where the list of plugins is missing", () =>
    Effect.gen(function* () {
      const directory = yield* makeFiles({ "package.json": { type: "module" } })
      const { status, stderr } = layerhost(["plugins"], directory)
      assert.strictEqual(status, 1)
      expect(stderr).toMatchInlineSnapshot(`
        "
        ERROR
          src/plugins.generated.ts does not exist: run \`layerhost generate\` in the service's directory, or name the module that exports its plugins with --plugins
        "
      `)
    })
  )
})
