/**
 * Builds `dist`, what the published package runs: ES modules and their declarations, and the templates of `layerhost init`. `npm pack` and `npm publish` do this
 * by themselves; `npm run build` does it for a look.
 */
import { execFileSync } from "node:child_process"
import { cpSync, globSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join, resolve, sep } from "node:path"

const root = resolve(import.meta.dirname, "..")
const dist = join(root, "dist")

rmSync(dist, { recursive: true, force: true })
const tsc = join(root, "node_modules/typescript/bin/tsc")
execFileSync(process.execPath, [tsc, "-p", join(root, "tsconfig.build.json")], { stdio: "inherit" })

// The compiler leaves the endings `.ts` in declarations, where not every tool takes them.
const relative = /((?:from|import) |import\()"(\.{1,2}\/[^"]*)\.ts"/g
for (const file of globSync("**/*.d.ts", { cwd: dist })) {
  const path = join(dist, file)
  writeFileSync(path, readFileSync(path, "utf8").replace(relative, `$1"$2.js"`))
}

// A package.json that is no package's own would be taken for one.
cpSync(join(root, "templates"), join(dist, "templates"), {
  recursive: true,
  filter: (path) => !path.split(sep).includes("node_modules", root.split(sep).length)
})
for (const file of globSync("templates/*/package.json", { cwd: dist })) {
  renameSync(join(dist, file), join(dist, dirname(file), "package.template.json"))
}
