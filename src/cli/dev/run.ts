/** What `layerhost dev` does. Loaded only when it is asked for. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { FileSystem } from "effect/FileSystem"
import * as nodePath from "node:path"
import { CommandError } from "../CommandError.ts"
import { findCompiler } from "../Compiler.ts"
import * as DirectoryWatcher from "../../Host/Configuration/DirectoryWatcher.ts"
import * as Service from "../config/Service.ts"
import * as PackageJson from "../generate/PackageJson.ts"
import * as PluginList from "../generate/PluginList.ts"
import { Sources } from "../generate/Sources.ts"
import { isRelevant } from "./isRelevant.ts"
import * as Supervisor from "./Supervisor.ts"
import * as TypeCheck from "./TypeCheck.ts"

/** What to run. */
export interface Options {
  /** The directory, and the arguments of the service. */
  readonly operands: ReadonlyArray<string>
  /** The program, in the directory. */
  readonly main: string
  /** Whether types are checked. */
  readonly types: boolean
}

/** How long a change waits for others: a save may be several events. */
const quiet = "25 millis"

/** Runs a service until it is interrupted, and starts it anew after each change. */
export const run = Effect.fnUntraced(function* (options: Options) {
  const fs = yield* FileSystem
  const { args, directory } = yield* Service.place(options.operands)
  const main = nodePath.join(directory, options.main)
  if (!(yield* fs.exists(main))) {
    return yield* new CommandError({
      message: `${nodePath.relative("", main)} does not exist: run this in the service's directory, or name its program with --main`
    })
  }
  const compiler = options.types ? findCompiler(directory) : undefined
  const service = yield* PackageJson.read(directory)
  const generated = nodePath.join(directory, service?.contents.layerhost?.output ?? "src/plugins.generated.ts")
  // A service that names its plugins itself has no list to keep fresh.
  const generates = yield* fs.exists(generated)

  const watcher = yield* DirectoryWatcher.make
  const supervisor = yield* Supervisor.make({ directory, main, args, say })
  if (options.types && compiler === undefined) {
    yield* say(`Types are not checked: TypeScript is not installed. Run \`npm install --save-dev typescript\`.`)
  }

  const sources = new Sources()
  let hadTypeErrors = false
  const check = Effect.gen(function* () {
    if (compiler === undefined) return
    const errors = yield* TypeCheck.run(directory, compiler)
    if (errors !== "") yield* say(`The types have errors:\n${errors}`)
    else if (hadTypeErrors) yield* say("The types are sound again")
    hadTypeErrors = errors !== ""
  })
  const write = Effect.gen(function* () {
    if (generates) yield* PluginList.write(yield* PluginList.make(directory, sources))
  })
  /** Watches what the list was made from, also where it could not be made. */
  const watch = Effect.flatMap(PluginList.watched(directory, sources), (directories) =>
    watcher.watch({ directories, isRelevant: (path) => isRelevant(path, directory, generated) })
  )
  const generate = Effect.gen(function* () {
    let written = yield* Effect.result(write)
    // Something may have changed between the reading and the watching.
    while (yield* watch) written = yield* Effect.result(write)
    return yield* Effect.fromResult(written)
  })
  /** One round; a later change interrupts it. */
  const round = generate.pipe(
    Effect.andThen(Effect.all([supervisor.restart, check], { concurrency: "unbounded", discard: true })),
    Effect.catch((error) => say(`${error.message}\nNothing was restarted; waiting for a change`))
  )

  let running = yield* Effect.forkChild(round)
  while (true) {
    yield* watcher.settled(quiet)
    yield* Fiber.interrupt(running)
    running = yield* Effect.forkChild(round)
  }
}, Effect.scoped)

/** On standard error, so that the log of the service stands alone on standard output; dimmed on a terminal. */
const say = (text: string): Effect.Effect<void> => {
  const line = `[dev] ${text}`
  const isColored = process.stderr.isTTY === true && !process.env["NO_COLOR"]
  return Console.error(isColored ? `\u001b[2m${line}\u001b[22m` : line)
}
