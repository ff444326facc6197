/** What `layerhost init` does. Loaded only when it is asked for. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { FileSystem } from "effect/FileSystem"
import { existsSync } from "node:fs"
import * as nodePath from "node:path"
import packageJson from "../../../package.json" with { type: "json" }
import { CommandError } from "../CommandError.ts"

/** What to make. */
export interface Options {
  readonly directory: string
  readonly plugin: boolean
}

/** The directories of templates, which the build of the package copies beside the modules. */
const templates = ["../../templates", "../../../templates"]
  .map((path) => nodePath.resolve(import.meta.dirname, path))
  .find((path) => existsSync(path))!

/** Files that npm would not pack, or would act on, have other names in the templates, `package.json` in the package only. */
const renamed: Readonly<Record<string, string>> = {
  gitignore: ".gitignore",
  dockerignore: ".dockerignore",
  "package.template.json": "package.json"
}

/** Writes the files of a template into a directory that is new or empty. */
export const run = Effect.fnUntraced(function* ({ directory, plugin }: Options) {
  const fs = yield* FileSystem
  const target = nodePath.resolve(directory)
  yield* refuseUnlessEmpty(target, directory)
  const kind = plugin ? "plugin" : "service"
  const placeholder = `my-${kind}`
  const name = yield* packageName(target)
  const source = nodePath.join(templates, kind)
  let count = 0
  for (const entry of yield* fs.readDirectory(source, { recursive: true })) {
    const from = nodePath.join(source, entry)
    if (entry.split(nodePath.sep).includes("node_modules") || (yield* fs.stat(from)).type !== "File") continue
    const file = renamed[entry] ?? entry
    const to = nodePath.join(target, file)
    const text = (yield* fs.readFileString(from)).replaceAll(placeholder, name)
    yield* fs.makeDirectory(nodePath.dirname(to), { recursive: true })
    yield* fs.writeFileString(to, file === "package.json" ? withVersions(text) : text)
    count++
  }
  const steps = [
    ...(target === process.cwd() ? [] : [`cd ${quoted(nodePath.relative("", target))}`]),
    "npm install",
    ...(plugin ? ["npm test"] : ["npm run dev      # http://localhost:8080/greetings/Ada"])
  ]
  yield* Console.log(
    `Made the ${kind} ${name}: ${count} files. Next:\n\n${steps.map((step) => `  ${step}`).join("\n")}`
  )
})

/** A path as a shell takes it. */
const quoted = (path: string): string => (/^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`)

const refuseUnlessEmpty = Effect.fnUntraced(function* (target: string, typed: string) {
  const fs = yield* FileSystem
  if (!(yield* fs.exists(target))) return
  if ((yield* fs.stat(target)).type !== "Directory") {
    return yield* new CommandError({ message: `${typed} is a file: name a directory that is new or empty` })
  }
  // A repository that was just made is as good as empty.
  const found = (yield* fs.readDirectory(target)).filter((entry) => entry !== ".git").toSorted()
  if (found.length === 0) return
  const shown = found.length > 3 ? `${found.slice(0, 3).join(", ")} and ${found.length - 3} more` : found.join(", ")
  return yield* new CommandError({
    message: `${typed} is not empty (${shown}), and nothing was written: name a directory that is new or empty`
  })
})

/** The name of the directory as npm takes it for a package (https://docs.npmjs.com/cli/configuring-npm/package-json#name). */
const packageName = Effect.fnUntraced(function* (target: string) {
  const base = nodePath.basename(target)
  const name = base
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[._-]+|-+$/g, "")
    .slice(0, 214)
  if (name !== "") return name
  return yield* new CommandError({
    message: `"${base}" has no letter or digit that the name of a package could have: name another directory`
  })
})

const { dependencies, devDependencies, peerDependencies, version } = packageJson

/** The versions that go with this version of layerhost: those that it is made and tested with. */
const versions: Readonly<Record<string, string>> = {
  ...devDependencies,
  ...dependencies,
  ...peerDependencies,
  layerhost: `^${version}`
}

const withVersions = (text: string): string =>
  text.replace(/"([^"]+)": "\*"/g, (line, name: string) => line.replace("*", versions[name] ?? "*"))
