import { assert, it } from "@effect/vitest"
import * as PackageExports from "../../../src/cli/generate/PackageExports.ts"

const cases: ReadonlyArray<[title: string, contents: object, specifier: string, target: string | undefined]> = [
  ["main", { main: "lib/main.js" }, "acme", "lib/main.js"],
  ["no main", {}, "acme", "./index.js"],
  ["a file of a package without exports", {}, "acme/lib/a.js", "./lib/a.js"],
  ["exports as one file", { exports: "./a.js" }, "acme", "./a.js"],
  ["nothing but that file", { exports: "./a.js" }, "acme/b", undefined],
  ["conditions without subpaths", { exports: { require: "./a.cjs", import: "./a.js" } }, "acme", "./a.js"],
  [
    "nested conditions, in the map's order",
    { exports: { ".": { types: "./a.d.ts", node: { require: "./a.cjs", default: "./a.mjs" }, import: "./a.js" } } },
    "acme",
    "./a.mjs"
  ],
  ["a list of fallbacks", { exports: { ".": [{ browser: "./b.js" }, "./a.js"] } }, "acme", "./a.js"],
  ["a pattern", { exports: { "./*": "./dist/*.js" } }, "acme/x/y", "./dist/x/y.js"],
  ["the longest pattern", { exports: { "./*": "./a/*", "./x/*.js": "./b/*.ts" } }, "acme/x/y.js", "./b/y.ts"],
  ["what is hidden", { exports: { "./*": "./a/*", "./internal/*": null } }, "acme/internal/x", undefined],
  ["another package", {}, "acmes", undefined],
  ["a name from the prototype", { exports: { ".": "./a.js" } }, "acme/../constructor", undefined]
]

it.each(cases)("resolves %s", (_title, contents, specifier, target) => {
  assert.strictEqual(PackageExports.resolve({ name: "acme", ...contents }, specifier), target)
})
