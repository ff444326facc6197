import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import { type Answer, AnswerReader } from "../../bench/src/answers.ts"

/** Looks like the end of a head and of the last chunk, and is neither. */
const misleading = "HTTP/1.1 500\r\n\r\n0\r\n\r\n"

const answers = [
  "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
  "HTTP/1.1 400 Bad Request\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
  "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n" +
    `5\r\nhello\r\n${misleading.length.toString(16)}\r\n${misleading}\r\n0\r\n\r\n`,
  `HTTP/1.1 201 Created\r\ncontent-length: ${misleading.length}\r\n\r\n${misleading}`,
  "HTTP/1.1 204 No Content\r\n\r\n",
  "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"
]

const stream = Buffer.from(answers.join(""))

const statusesOf = (pieces: ReadonlyArray<Buffer>): ReadonlyArray<number> => {
  const read: Array<Answer> = []
  const reader = new AnswerReader((answer) => read.push(answer))
  for (const piece of pieces) reader.read(piece)
  return read.map(({ status }) => status)
}

describe("The load's reader of answers", () => {
  const expected = [200, 400, 200, 201, 204, 200]

  it("finds each answer's end, in one piece and byte by byte", () => {
    assert.deepStrictEqual(statusesOf([stream]), expected)
    assert.deepStrictEqual(statusesOf([...stream].map((byte) => Buffer.of(byte))), expected)
  })

  const cuts = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: stream.length })))

  it.prop("finds them in any pieces", [cuts], ([cuts]) => {
    const at = [0, ...cuts.toSorted((a, b) => a - b), stream.length]
    const pieces = at.slice(1).map((end, i) => stream.subarray(at[i], end))
    assert.deepStrictEqual(statusesOf(pieces), expected)
  })

  it("waits for what is not whole", () => {
    assert.deepStrictEqual(statusesOf([stream.subarray(0, answers[0]!.length - 1)]), [])
  })
})
