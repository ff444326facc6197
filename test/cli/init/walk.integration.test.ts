/**
 * The first hour, as the tutorial tells it, with the packed package: make a service and a plugin, check and test both,
 * install the one in the other, run it, ask it, stop it.
 */
import { afterAll, assert, beforeAll, it } from "vitest"
import { execFileSync, spawn } from "node:child_process"
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import packageJson from "../../../package.json" with { type: "json" }
import * as PackedPackage from "../../support/PackedPackage.ts"

const { dependencies, peerDependencies } = packageJson
const packages = [
  ...Object.keys({ ...dependencies, ...peerDependencies }),
  "@effect/vitest",
  "@types/node",
  "typescript",
  "vitest"
]

let directory: string
let tarball: string

/** What `npm install` would do, from what the repository has installed. */
const install = (project: string) => {
  PackedPackage.makeProject(project, { tarball, packages, files: {} })
  mkdirSync(join(project, "node_modules/.bin"))
  chmodSync(join(project, "node_modules/layerhost/dist/cli/main.js"), 0o755)
  symlinkSync("../layerhost/dist/cli/main.js", join(project, "node_modules/.bin/layerhost"))
}

/** Runs a command in a project; fails with all that it said. */
const run = (project: string, command: string, ...args: ReadonlyArray<string>): string =>
  execFileSync(command, args, {
    cwd: project,
    encoding: "utf8",
    stdio: "pipe",
    env: { ...PackedPackage.environment, NO_COLOR: "1" }
  })

const edit = (file: string, change: (text: string) => string) => writeFileSync(file, change(readFileSync(file, "utf8")))

beforeAll(() => {
  directory = PackedPackage.makeDirectory()
  tarball = PackedPackage.pack(directory)
  install(directory)
}, 120_000)
afterAll(() => PackedPackage.removeDirectory(directory))

it("walks from an empty directory to a service that runs", { timeout: 120_000 }, async () => {
  const cli = join(directory, "node_modules/layerhost/dist/cli/main.js")
  const [service, plugin] = [join(directory, "orders"), join(directory, "wall-clock")]
  run(directory, process.execPath, cli, "init", "orders")
  run(directory, process.execPath, cli, "init", "wall-clock", "--plugin")
  for (const project of [service, plugin]) install(project)

  assert.include(run(plugin, "npm", "test"), "1 passed")
  run(plugin, "npm", "run", "check")
  run(plugin, "npm", "run", "build")
  run(service, "npm", "run", "check")
  assert.include(run(service, "npm", "test"), "1 passed")

  // Install the plugin, and write another one.
  symlinkSync(plugin, join(service, "node_modules/wall-clock"))
  edit(join(service, "package.json"), (text) =>
    text.replace('"dependencies": {', '"dependencies": {\n    "wall-clock": "^0.1.0",')
  )
  writeFileSync(
    join(service, "src/StatusPlugin.ts"),
    `import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import { Plugin } from "layerhost"
import { Clock } from "wall-clock"

export const status = Plugin.make({
  id: "status",
  routes: HttpRouter.add("GET", "/status", Effect.map(Clock, () => HttpServerResponse.text("there is a clock")))
})
`
  )
  assert.throws(() => run(service, "npm", "run", "generate", "--", "--check"), /stale/)
  run(service, "npm", "run", "generate")
  run(service, "npm", "run", "check")
  const listed = run(service, "node_modules/.bin/layerhost", "plugins")
  for (const part of ["wall-clock 0.1.0", "requires    wall-clock/Clock", "GET /greetings/:name"]) {
    assert.include(listed, part)
  }

  const child = spawn(process.execPath, ["src/main.ts"], {
    cwd: service,
    env: { ...PackedPackage.environment, HOST_URLS: "http://127.0.0.1:0", LOGGING_FORMAT: "json" },
    stdio: ["ignore", "pipe", "inherit"]
  })
  const ended = new Promise<number | null>((resolve) => child.on("exit", (status) => resolve(status)))
  try {
    const url = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout }).on("line", (line) => {
        const found = /Listening on (http:[^",]+)/.exec(line)?.[1]
        if (found !== undefined) resolve(found)
      })
      void ended.then((status) => reject(new Error(`The service ended with status ${status}`)))
    })
    const get = async (path: string) => (await fetch(url + path)).text()
    assert.strictEqual(await get("/greetings/Ada"), '{"message":"Hello, Ada!"}')
    assert.strictEqual(await get("/status"), "there is a clock")
    assert.match(await get("/clock"), /^\{"now":"\d{4}-/)
    assert.include(await get("/health/readiness"), '"Healthy"')
  } finally {
    child.kill("SIGTERM")
  }
  assert.strictEqual(await ended, 0)
})
