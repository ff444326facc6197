/** The README's compile error is the compiler's: examples/shop without the plugin that the other one requires. */
import { afterAll, assert, beforeAll, it } from "vitest"
import { spawnSync } from "node:child_process"
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { join, resolve } from "node:path"
import { readBlocks } from "./ReadmeBlocks.ts"

const root = resolve(import.meta.dirname, "../..")
let directory: string

// Below the repository, so that its packages are found.
beforeAll(() => {
  directory = mkdtempSync(join(root, "node_modules/.compile-error-"))
  cpSync(join(root, "examples/shop/src"), join(directory, "src"), { recursive: true })
  symlinkSync(join(root, "examples/shop/package.json"), join(directory, "package.json"))
  writeFileSync(
    join(directory, "tsconfig.json"),
    JSON.stringify({
      extends: join(root, "tsconfig.json"),
      compilerOptions: { noUnusedLocals: false },
      include: ["src"],
      // The default leaves out node_modules, where this is.
      exclude: []
    })
  )
})
afterAll(() => rmSync(directory, { recursive: true, force: true }))

const compile = () =>
  spawnSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", "."], {
    cwd: directory,
    encoding: "utf8"
  }).stdout

it("is what the compiler says", () => {
  const list = join(directory, "src/plugins.generated.ts")
  const without = readFileSync(list, "utf8").replace("  customers,\n", "")
  writeFileSync(list, without)
  const shown = readBlocks(readFileSync(join(root, "README.md"), "utf8")).find(({ text }) => text.includes("TS2345"))!
  // The README leaves out a part of it, and breaks its lines where there is room.
  const parts = shown.text.split(/…|\n/).map((part) => part.trim())
  const said = compile().replace(/\s+/g, " ")
  assert.isAbove(parts.length, 3)
  for (const part of parts) assert.include(said, part)
}, 60_000)
