/**
 * The first hour, with the packed package: the tutorial as it is written, and a plugin package that a service installs.
 */
import { afterAll, assert, beforeAll, it } from "vitest"
import { execFile, spawn, spawnSync } from "node:child_process"
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { createInterface } from "node:readline"
import { promisify } from "node:util"
import packageJson from "../../../package.json" with { type: "json" }
import { matches, readBlocks, readSteps } from "../../readme/ReadmeBlocks.ts"
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

/** Runs a command in a project, and gives what it prints; fails with all that it said. */
const run = (project: string, command: string, ...args: ReadonlyArray<string>): string => {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: project,
    encoding: "utf8",
    env: { ...PackedPackage.environment, NO_COLOR: "1" }
  })
  assert.strictEqual(status, 0, `${[command, ...args].join(" ")}\n${stdout}${stderr}`)
  return stdout
}

/** Runs the service until the test of it has ended; its status is 0 then. */
const whileRunning = async (project: string, test: (url: string) => Promise<void>) => {
  const child = spawn(process.execPath, ["src/main.ts"], {
    cwd: project,
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
    await test(url)
  } finally {
    child.kill("SIGTERM")
  }
  assert.strictEqual(await ended, 0)
}

beforeAll(() => {
  directory = PackedPackage.makeDirectory()
  tarball = PackedPackage.pack(directory)
  install(directory)
  run(directory, "node_modules/.bin/layerhost", "init", "orders")
  install(join(directory, "orders"))
}, 120_000)
afterAll(() => PackedPackage.removeDirectory(directory))

it("walks through the tutorial", { timeout: 180_000 }, async () => {
  const blocks = readBlocks(readFileSync(resolve(import.meta.dirname, "../../../docs/tutorial.md"), "utf8"))
  const commands = blocks.filter(({ info, language }) => language === "sh" && info === "walk")
  assert.isAbove(commands.length, 3)
  const answers = blocks.filter(({ info, language }) => language === "console" && info === "walk")
  assert.isAbove(answers.length, 0)

  for (const { info, language, text } of blocks) {
    if (info.startsWith("orders/")) {
      mkdirSync(dirname(join(directory, info)), { recursive: true })
      writeFileSync(join(directory, info), `${text}\n`)
    } else if (info === "walk" && language === "sh") {
      run(join(directory, "orders"), "sh", "-ec", text)
    } else if (info === "walk" && language === "console") {
      await whileRunning(join(directory, "orders"), async (url) => {
        for (const { command, output } of readSteps(text)) {
          const { stdout } = await promisify(execFile)("sh", ["-c", command.replaceAll("http://localhost:8080", url)])
          assert.isTrue(matches(output, stdout), `$ ${command}\nshould print\n${output}\nbut printed\n${stdout}`)
        }
      })
    }
  }
})

it("makes a plugin package that a service installs", { timeout: 180_000 }, async () => {
  const [service, plugin] = [join(directory, "shop"), join(directory, "wall-clock")]
  run(directory, "node_modules/.bin/layerhost", "init", "shop")
  run(directory, "node_modules/.bin/layerhost", "init", "wall-clock", "--plugin")
  for (const project of [service, plugin]) install(project)
  assert.include(run(plugin, "npm", "test"), "1 passed")
  run(plugin, "npm", "run", "check")
  run(plugin, "npm", "run", "build")

  symlinkSync(plugin, join(service, "node_modules/wall-clock"))
  const manifest = join(service, "package.json")
  writeFileSync(
    manifest,
    readFileSync(manifest, "utf8").replace('"dependencies": {', '"dependencies": {\n    "wall-clock": "^0.1.0",')
  )
  assert.throws(() => run(service, "npm", "run", "generate", "--", "--check"), /stale/)
  run(service, "npm", "run", "generate")
  assert.match(
    run(service, "node_modules/.bin/layerhost", "plugins"),
    /wall-clock 0\.1\.0[^]*provides {4}wall-clock\/Clock/
  )
  await whileRunning(service, async (url) => {
    assert.match(await (await fetch(`${url}/clock`)).text(), /^\{"now":"\d{4}-/)
  })
})
