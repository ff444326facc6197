/**
 * JSON with comments and trailing commas, read with the position of every value.
 */
import { maxDepth } from "./Assignment.ts"
import { DocumentError, type DocumentNode, type Entry, type Position, tooDeep } from "./DocumentNode.ts"

/** Reads a JSON text; throws a {@link DocumentError} where it is not one. */
export const parse = (text: string): DocumentNode => new JsonReader(text).document()

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])/y
const word = /(?:true|false|null)(?!\w)/y

class JsonReader {
  private readonly text: string
  private offset = 0
  private line = 1
  private lineStart = 0

  constructor(text: string) {
    this.text = text
  }

  document(): DocumentNode {
    this.skipTrivia()
    const root = this.value(0)
    this.skipTrivia()
    if (this.offset < this.text.length) throw this.unexpected("the end of the file")
    return root
  }

  private value(depth: number): DocumentNode {
    const at = this.position()
    if (depth > maxDepth) throw tooDeep(at)
    switch (this.text[this.offset]) {
      case "{":
        return { ...at, _tag: "Section", entries: this.sequence("}", () => this.entry(depth)) }
      case "[":
        return { ...at, _tag: "List", items: this.sequence("]", () => this.value(depth + 1)) }
      case '"': {
        const text = this.string()
        return { ...at, _tag: "Scalar", text, parsed: text }
      }
      default: {
        const text = this.match(word) ?? this.match(number)
        if (text === undefined) throw this.unexpected("a value")
        return { ...at, _tag: "Scalar", text, parsed: JSON.parse(text) }
      }
    }
  }

  private entry(depth: number): Entry {
    const at = this.position()
    if (this.text[this.offset] !== '"') throw this.unexpected("a key in double quotes")
    const key = this.string()
    this.skipTrivia()
    if (this.text[this.offset] !== ":") throw this.unexpected('":"')
    this.offset++
    this.skipTrivia()
    return { ...at, key, value: this.value(depth + 1) }
  }

  /** What stands between brackets, with a comma after each item; after the last it may be left out. */
  private sequence<A>(close: "}" | "]", item: () => A): Array<A> {
    const items: Array<A> = []
    this.offset++
    this.skipTrivia()
    while (this.text[this.offset] !== close) {
      items.push(item())
      this.skipTrivia()
      if (this.text[this.offset] === ",") {
        this.offset++
        this.skipTrivia()
      } else if (this.text[this.offset] !== close) throw this.unexpected(`"," or "${close}"`)
    }
    this.offset++
    return items
  }

  private string(): string {
    const start = this.offset
    let end = start + 1
    for (;;) {
      const code = this.text.charCodeAt(end)
      if (code === 0x22) break
      if (Number.isNaN(code) || code === 0x0a || code === 0x0d) {
        throw new DocumentError(this.position(), "a closing quote", "the text that begins here has no closing quote")
      }
      end += code === 0x5c ? 2 : 1
    }
    this.offset = end + 1
    try {
      return JSON.parse(this.text.slice(start, end + 1))
    } catch {
      this.offset = start
      throw new DocumentError(
        this.position(),
        "JSON text",
        "the text that begins here has an invalid escape or control character"
      )
    }
  }

  private match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.offset
    const matched = pattern.exec(this.text)?.[0]
    this.offset += matched?.length ?? 0
    return matched
  }

  /** White space and comments; the only places where a line ends. */
  private skipTrivia(): void {
    const { text } = this
    for (;;) {
      const char = text[this.offset]
      if (char === "\n") {
        this.offset++
        this.line++
        this.lineStart = this.offset
      } else if (char === " " || char === "\t" || char === "\r") {
        this.offset++
      } else if (char === "/" && text[this.offset + 1] === "/") {
        const end = text.indexOf("\n", this.offset)
        this.offset = end < 0 ? text.length : end
      } else if (char === "/" && text[this.offset + 1] === "*") {
        const end = text.indexOf("*/", this.offset + 2)
        if (end < 0) throw new DocumentError(this.position(), '"*/"', "the comment that begins here does not end")
        for (let i = text.indexOf("\n", this.offset); i >= 0 && i < end; i = text.indexOf("\n", i + 1)) {
          this.line++
          this.lineStart = i + 1
        }
        this.offset = end + 2
      } else return
    }
  }

  private position(): Position {
    return { line: this.line, column: this.offset - this.lineStart + 1 }
  }

  private unexpected(expected: string): DocumentError {
    const point = this.text.codePointAt(this.offset)
    const found = point === undefined ? "the end of the file" : JSON.stringify(String.fromCodePoint(point))
    return new DocumentError(this.position(), expected, `expected ${expected}, found ${found}`)
  }
}
