import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { setImmediate } from "node:timers/promises"
import { Writable } from "node:stream"
import * as LineWriter from "../../../src/Host/Logging/LineWriter.ts"

const dropped = (count: number) => `dropped ${count}\n`

/** A sink that is full after each write until it is told otherwise. */
const slowSink = () => {
  const written: Array<string> = []
  let waiting: Array<() => void> = []
  return {
    written,
    ready: () => {
      const all = waiting
      waiting = []
      for (const ready of all) ready()
    },
    write: (lines: string) => {
      written.push(lines)
      return false
    },
    onceReady: (ready: () => void) => void waiting.push(ready)
  }
}

describe("LineWriter", () => {
  it("writes the lines of one turn at once", async () => {
    const written: Array<string> = []
    const writer = LineWriter.make(
      LineWriter.fromFunction((lines) => written.push(lines)),
      { dropped }
    )
    writer.add("a\n")
    await Promise.resolve()
    writer.add("b\n")
    assert.deepStrictEqual(written, [])
    await setImmediate()
    assert.deepStrictEqual(written, ["a\nb\n"])
    writer.add("c\n")
    await setImmediate()
    assert.deepStrictEqual(written, ["a\nb\n", "c\n"])
  })

  it("does not wait with much", () => {
    const written: Array<string> = []
    const writer = LineWriter.make(
      LineWriter.fromFunction((lines) => written.push(lines)),
      { dropped }
    )
    writer.add("x".repeat(100_000))
    assert.strictEqual(written.length, 1)
  })

  it("keeps lines while the sink is full, in order", () => {
    const sink = slowSink()
    const writer = LineWriter.make(sink, { dropped })
    writer.add("a\n")
    writer.flush()
    writer.add("b\n")
    writer.add("c\n")
    assert.deepStrictEqual(sink.written, ["a\n"])
    sink.ready()
    assert.deepStrictEqual(sink.written, ["a\n", "b\nc\n"])
  })

  it("drops lines beyond its bound, and says how many", () => {
    const sink = slowSink()
    const writer = LineWriter.make(sink, { dropped, maxPending: 4 })
    writer.add("a\n")
    writer.flush()
    for (const line of ["b\n", "c\n", "d\n", "e\n", "f\n"]) writer.add(line)
    sink.ready()
    assert.deepStrictEqual(sink.written, ["a\n", "b\nc\ndropped 3\n"])
    sink.ready()
    writer.add("g\n")
    writer.flush()
    assert.deepStrictEqual(sink.written.at(-1), "g\n")
  })

  it.effect("waits at its close for a sink that is full, and writes later lines at once", () =>
    Effect.gen(function* () {
      const sink = slowSink()
      const writer = LineWriter.make(sink, { dropped })
      writer.add("a\n")
      writer.flush()
      writer.add("b\n")
      const closing = yield* Effect.forkChild(writer.close, { startImmediately: true })
      sink.ready()
      assert.deepStrictEqual(sink.written, ["a\n", "b\n"])
      assert.isUndefined(closing.pollUnsafe(), "the second write is not taken yet")
      sink.ready()
      yield* Fiber.join(closing)
      writer.add("c\n")
      assert.deepStrictEqual(sink.written, ["a\n", "b\n", "c\n"])
    })
  )

  it("survives a stream that fails on every write", async () => {
    let attempts = 0
    const stream = new Writable({
      autoDestroy: false,
      highWaterMark: 1,
      write: (_chunk, _encoding, callback) => {
        attempts++
        callback(new Error("EPIPE"))
      }
    })
    const writer = LineWriter.make(LineWriter.fromStream(stream), { dropped })
    for (const line of ["a\n", "b\n", "c\n"]) {
      writer.add(line)
      await setImmediate()
    }
    assert.isAbove(attempts, 0)
  })

  it("respects a stream's backpressure", async () => {
    const written: Array<string> = []
    const callbacks: Array<() => void> = []
    const stream = new Writable({
      decodeStrings: false,
      highWaterMark: 1,
      write: (chunk, _encoding, callback) => {
        written.push(chunk)
        callbacks.push(callback)
      }
    })
    const writer = LineWriter.make(LineWriter.fromStream(stream), { dropped })
    writer.add("a\n")
    writer.flush()
    writer.add("b\n")
    await setImmediate()
    assert.strictEqual(stream.writableLength, 2, "only the first line is with the stream")
    callbacks.shift()!()
    await setImmediate()
    assert.deepStrictEqual(written, ["a\n", "b\n"])
  })
})
