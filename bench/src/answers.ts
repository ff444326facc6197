/** Finds where answers end on a connection, by `Content-Length` or chunk by chunk, and looks at nothing else of them. */

const endOfHead = "\r\n\r\n"

export interface Answer {
  readonly status: number
  /** The bytes of status line and headers, in latin1. */
  readonly head: string
}

export class AnswerReader {
  readonly #onAnswer: (answer: Answer) => void
  #buffer: Buffer | undefined
  #answer: Answer | undefined
  /** Bytes of the body, or of the chunk and its line's end, that are still to come. */
  #left = 0
  #chunked = false
  #isLastChunk = false

  constructor(onAnswer: (answer: Answer) => void) {
    this.#onAnswer = onAnswer
  }

  read(data: Buffer): void {
    let rest = this.#buffer === undefined ? data : Buffer.concat([this.#buffer, data])
    this.#buffer = undefined
    while (rest.length > 0) {
      const next = this.#answer === undefined ? this.#readHead(rest) : this.#readBody(rest)
      if (next === undefined) {
        this.#buffer = rest
        return
      }
      rest = next
    }
  }

  /** What follows the head; `undefined` while the head is not whole. */
  #readHead(data: Buffer): Buffer | undefined {
    const end = data.indexOf(endOfHead)
    if (end < 0) return undefined
    const head = data.toString("latin1", 0, end)
    this.#answer = { status: Number(head.slice(9, 12)), head }
    const length = /\r\ncontent-length: *(\d+)/i.exec(head)
    this.#chunked = length === null && /\r\ntransfer-encoding: *chunked/i.test(head)
    this.#left = length === null ? 0 : Number(length[1])
    const rest = data.subarray(end + endOfHead.length)
    if (this.#left === 0 && !this.#chunked) this.#end()
    return rest
  }

  /** What follows what is of the body; `undefined` while the line of a chunk is not whole. */
  #readBody(data: Buffer): Buffer | undefined {
    if (this.#left > 0) {
      const taken = Math.min(this.#left, data.length)
      this.#left -= taken
      if (this.#left === 0 && (!this.#chunked || this.#isLastChunk)) this.#end()
      return data.subarray(taken)
    }
    const end = data.indexOf("\r\n")
    if (end < 0) return undefined
    const size = Number.parseInt(data.toString("latin1", 0, end), 16)
    this.#isLastChunk = size === 0
    this.#left = size + 2
    return data.subarray(end + 2)
  }

  #end(): void {
    const answer = this.#answer!
    this.#answer = undefined
    this.#isLastChunk = false
    this.#onAnswer(answer)
  }
}
