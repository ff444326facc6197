import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import * as NodePath from "@effect/platform-node/NodePath"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Redacted from "effect/Redacted"
import * as Sink from "effect/Sink"
import * as Stdio from "effect/Stdio"
import * as Terminal from "effect/Terminal"
import type { Secret } from "../../../src/SecretStore/Secret.ts"
import * as Input from "../../../src/cli/secrets/Input.ts"
import * as Output from "../../../src/cli/secrets/Output.ts"
import * as Progress from "../../../src/cli/secrets/Progress.ts"
import { revealed } from "../../SecretStore/SecretStorageTest.ts"

/** A terminal at which someone types the given lines, and all that is shown on each stream. */
const terminal = (typed: ReadonlyArray<string> = []) => {
  const shown = { stdout: "", stderr: "" }
  const sink = (stream: keyof typeof shown) => () =>
    Sink.forEach((text: string | Uint8Array) => Effect.sync(() => void (shown[stream] += String(text))))
  const key = (name: string) => ({ name, ctrl: false, meta: false, shift: false })
  const keys = typed.flatMap((line) => [
    ...Array.from(line, (input) => ({ input: input as string | undefined, key: key(input) })),
    { input: undefined, key: key("enter") }
  ])
  const layer = Layer.mergeAll(
    NodeFileSystem.layer,
    NodePath.layer,
    Stdio.layerTest({
      stdinIsTerminal: Effect.succeed(true),
      stdoutIsTerminal: Effect.succeed(true),
      stderrIsTerminal: Effect.succeed(true),
      stdout: sink("stdout"),
      stderr: sink("stderr")
    }),
    Layer.effect(
      Terminal.Terminal,
      Effect.gen(function* () {
        const queue = yield* Queue.unbounded<Terminal.UserInput>()
        for (const { input, key } of keys) yield* Queue.offer(queue, { input: Option.fromUndefinedOr(input), key })
        return Terminal.make({
          columns: Effect.succeed(80),
          rows: Effect.succeed(24),
          size: Effect.die("unused"),
          readInput: Effect.succeed(queue as never),
          readLine: Effect.die("unused"),
          display: () => Effect.die("prompts belong on standard error")
        })
      })
    )
  )
  return { layer, shown }
}

const login = (password: string): Secret => ({
  type: "UsernamePassword",
  username: "ada",
  password: Redacted.make(password)
})

describe("secrets on a terminal", () => {
  it.effect("values are typed at prompts that do not echo them", () =>
    Effect.gen(function* () {
      const { layer, shown } = terminal(["ada", "canary", "canary-key"])
      const secret = yield* Input.read("UsernamePasswordApiKey").pipe(Effect.provide(layer))
      assert.deepStrictEqual(revealed(secret), {
        type: "UsernamePasswordApiKey",
        username: "ada",
        password: "canary",
        apiKey: "canary-key"
      })
      assert.include(shown.stderr, "Password")
      assert.notInclude(shown.stderr, "canary")
      assert.strictEqual(shown.stdout, "")
    })
  )

  it.effect("what was typed is validated, and not repeated", () =>
    Effect.gen(function* () {
      const { layer } = terminal(["ada", "canary", "canary-1"])
      const error = yield* Effect.flip(Input.read("UsernamePasswordTotp").pipe(Effect.provide(layer)))
      assert.include(error.message, "totp.totpKey.base32Key: Expected Base32 text")
      assert.notInclude(error.message, "canary")
    })
  )

  it.effect("a secret's values are hidden unless they are asked for", () =>
    Effect.gen(function* () {
      const print = Effect.fnUntraced(function* (options: Partial<Parameters<typeof Output.secret>[1]>) {
        const { layer, shown } = terminal()
        yield* Output.secret(login("canary"), { field: undefined, reveal: false, json: false, ...options }).pipe(
          Effect.provide(layer)
        )
        return shown.stdout
      })
      assert.strictEqual(yield* print({}), "type: UsernamePassword\nusername: ada\npassword: <redacted>\n")
      assert.include(yield* print({ reveal: true }), "password: canary\n")
      assert.strictEqual(yield* print({ field: "password" }), "<redacted>\n")
      assert.strictEqual(yield* print({ field: "password", reveal: true }), "canary\n")
      assert.strictEqual(yield* print({ field: "username" }), "ada\n")
    })
  )

  it.effect("a bar shows how far a long command is", () =>
    Effect.gen(function* () {
      const { layer, shown } = terminal()
      yield* Effect.gen(function* () {
        const progress = yield* Progress.make("secrets")
        for (let step = 0; step < 1000; step++) yield* progress.step(1000)
        yield* progress.end
      }).pipe(Effect.provide(layer))
      const bars = shown.stderr.split("\r").slice(1)
      assert.strictEqual(bars.length, 100)
      assert.strictEqual(bars[49], `[${"█".repeat(15)}${"░".repeat(15)}] 500/1000 secrets`)
      assert.strictEqual(bars.at(-1), `[${"█".repeat(30)}] 1000/1000 secrets\n`)
    })
  )
})
