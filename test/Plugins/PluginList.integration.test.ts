import { afterAll, assert, beforeAll, it } from "vitest"
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"

const root = resolve(import.meta.dirname, "../..")
let directory: string

// Below the repository, so that its packages are found.
beforeAll(() => {
  directory = mkdtempSync(join(root, "node_modules/.plugin-list-"))
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** A chain in which every plugin needs what the one before it provides. */
const chain = (length: number): string =>
  Array.from({ length }, (_, n) => {
    const layer = n === 0 ? "Layer.succeed(S0, {})" : `Layer.effect(S${n}, S${n - 1}.use(() => Effect.succeed({})))`
    return `class S${n} extends Context.Service<S${n}, { readonly n${n}?: 1 }>()("chain/S${n}") {}
const p${n} = Plugin.make({ id: "p${n}", services: ${layer} })`
  }).join("\n")

const listOf = (from: number, to: number): string =>
  Array.from({ length: to - from }, (_, n) => `p${from + n}`).join(", ")

it("the types carry 1,000 plugins, and leave longer lists to the start-up check", () => {
  writeFileSync(
    join(directory, "list.ts"),
    `import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Host from "${root}/src/Host/Host.ts"
import * as Plugin from "${root}/src/Plugins/Plugin.ts"
${chain(1002)}
Host.HostLive([${listOf(0, 1000)}])
// 1,000 without the first, which the second needs.
Host.HostLive([${listOf(1, 1001)}])
// 1,001 without the first.
Host.HostLive([${listOf(1, 1002)}])
`
  )
  writeFileSync(
    join(directory, "tsconfig.json"),
    JSON.stringify({
      extends: join(root, "tsconfig.json"),
      compilerOptions: { types: ["node"] },
      include: ["list.ts"],
      // The project's own leaves out what is below node_modules.
      exclude: []
    })
  )
  const { stdout } = spawnSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", directory], {
    encoding: "utf8"
  })
  const errors = stdout.split("\n").filter((line) => /error TS/.test(line))
  assert.strictEqual(errors.length, 1, stdout)
  assert.match(stdout, /plugin \\?"p1\\?" needs a service that no earlier plugin provides: chain\/S0/)
}, 120_000)
