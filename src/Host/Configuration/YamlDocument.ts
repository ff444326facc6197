/**
 * YAML 1.2 with anchors, aliases and merge keys, read with the position of every value.
 */
import * as Yaml from "yaml"
import { fold, maxDepth } from "./Assignment.ts"
import { DocumentError, type DocumentNode, type Entry, type Position, tooDeep } from "./DocumentNode.ts"

/** A file may repeat this many values through its aliases; a real one repeats a few dozen. */
export const maxAliasedValues = 10_000

/** A level takes one or two entries of the parser's stack. */
const maxOpenTokens = 3 * maxDepth

/** Reads a YAML text; throws a {@link DocumentError} where it is not one. A text without any value is an empty section. */
export const parse = (text: string): DocumentNode => {
  const lines = new Yaml.LineCounter()
  const composer = new Yaml.Composer({ version: "1.2", merge: true, uniqueKeys: false })
  const [document, second] = composer.compose(tokens(text, lines), true, text.length)
  // An unknown tag is a mere warning to the parser; here it would change what a value means.
  const fault = document!.errors[0] ?? document!.warnings[0]
  if (fault !== undefined) throw syntaxError(fault, positionAt(lines, fault.pos[0]))
  if (second !== undefined) {
    throw new DocumentError(positionAt(lines, second.range[0]), "one document", "the file holds more than one document")
  }
  return new YamlReader(document as Yaml.Document.Parsed, lines).document()
}

/** The parser keeps all levels that are open: it is stopped before their number exhausts the memory. */
function* tokens(text: string, lines: Yaml.LineCounter): Generator<Yaml.CST.Token, void> {
  const parser = new Yaml.Parser(lines.addNewLine)
  lines.addNewLine(0)
  for (const lexeme of new Yaml.Lexer().lex(text)) {
    yield* parser.next(lexeme)
    if (parser.stack.length > maxOpenTokens) throw tooDeep(positionAt(lines, parser.offset))
  }
  yield* parser.end()
}

const positionAt = (lines: Yaml.LineCounter, offset: number): Position => {
  const { line, col } = lines.linePos(offset)
  return { line, column: col }
}

const syntaxError = (fault: Yaml.YAMLError, position: Position): DocumentError => {
  return new DocumentError(position, "YAML 1.2", withoutQuotation(fault))
}

/** Two messages of the parser quote the file at their end, and with it perhaps a secret. */
const withoutQuotation = ({ code, message }: Yaml.YAMLError): string => {
  if (code === "UNEXPECTED_TOKEN") return message.replace(/: .*$/s, "")
  return code === "BAD_DQ_ESCAPE" ? "Invalid escape sequence" : message
}

class YamlReader {
  private readonly yaml: Yaml.Document.Parsed
  private readonly lines: Yaml.LineCounter
  private readonly anchors = new Map<Yaml.Alias, Yaml.Node>()
  private readonly open = new Set<Yaml.Node>()
  private aliasedValues = 0

  constructor(yaml: Yaml.Document.Parsed, lines: Yaml.LineCounter) {
    this.yaml = yaml
    this.lines = lines
    // An alias means the last anchor of its name before it: one walk in document order finds them all.
    const named = new Map<string, Yaml.Node>()
    Yaml.visit(yaml, {
      Node: (_key, node) => {
        if (Yaml.isAlias(node)) {
          const target = named.get(node.source)
          if (target !== undefined) this.anchors.set(node, target)
        } else if (node.anchor !== undefined) named.set(node.anchor, node)
      }
    })
  }

  document(): DocumentNode {
    const { contents } = this.yaml
    const empty = contents === null || (Yaml.isScalar(contents) && contents.value === null)
    return empty ? { line: 1, column: 1, _tag: "Section", entries: [] } : this.value(contents, 0)
  }

  private value(node: Yaml.Node, depth: number): DocumentNode {
    const at = this.position(node)
    if (depth > maxDepth) throw tooDeep(at)
    if (this.open.size > 0) this.countAliased(at)
    if (Yaml.isAlias(node)) return this.inAlias(node, (target) => this.value(target, depth))
    if (Yaml.isMap(node)) return { ...at, _tag: "Section", entries: this.entries(node, depth) }
    if (Yaml.isSeq(node)) {
      return { ...at, _tag: "List", items: node.items.map((item) => this.value(item as Yaml.Node, depth + 1)) }
    }
    return { ...at, _tag: "Scalar", ...scalar(node as Yaml.Scalar) }
  }

  /** The entries of a map; those of merge keys fill in what the map does not set itself. */
  private entries(map: Yaml.YAMLMap, depth: number): ReadonlyArray<Entry> {
    const own: Array<Entry> = []
    const merged: Array<Entry> = []
    for (const { key, value } of map.items as ReadonlyArray<Yaml.Pair<Yaml.Node, Yaml.Node | null>>) {
      if (isMergeKey(key)) {
        merged.push(...this.mergedEntries(value ?? key, depth))
        continue
      }
      const at = this.position(key)
      if (!Yaml.isScalar(key) || key.value === null)
        throw new DocumentError(at, "a plain key", "a key must be plain text")
      own.push({
        ...at,
        key: scalar(key).text,
        value: value === null ? { ...at, _tag: "Scalar", text: "", parsed: null } : this.value(value, depth + 1)
      })
    }
    if (merged.length === 0) return own
    const seen = new Set(own.map((entry) => fold(entry.key)))
    return [...own, ...merged.filter((entry) => !seen.has(fold(entry.key)) && seen.add(fold(entry.key)))]
  }

  private mergedEntries(node: Yaml.Node, depth: number): ReadonlyArray<Entry> {
    if (Yaml.isAlias(node)) return this.inAlias(node, (target) => this.mergedEntries(target, depth))
    if (Yaml.isMap(node)) return this.entries(node, depth)
    if (Yaml.isSeq(node)) return node.items.flatMap((item) => this.mergedEntries(item as Yaml.Node, depth))
    throw new DocumentError(this.position(node), "a map or a list of maps", "a merge key takes a map or a list of maps")
  }

  private inAlias<A>(alias: Yaml.Alias, read: (target: Yaml.Node) => A): A {
    const target = this.anchors.get(alias)
    if (target === undefined) {
      throw new DocumentError(this.position(alias), "an anchor that stands before it", "an alias without its anchor")
    }
    if (this.open.has(target)) {
      throw new DocumentError(this.position(alias), "an anchor outside of itself", "an alias that contains itself")
    }
    this.countAliased(this.position(alias))
    this.open.add(target)
    const result = read(target)
    this.open.delete(target)
    return result
  }

  private countAliased(at: Position): void {
    if (++this.aliasedValues <= maxAliasedValues) return
    throw new DocumentError(
      at,
      `at most ${maxAliasedValues} values through aliases`,
      `the aliases of this file multiply it to more than ${maxAliasedValues} values`
    )
  }

  private position(node: Yaml.Node): Position {
    return positionAt(this.lines, node.range?.[0] ?? 0)
  }
}

const isMergeKey = (key: Yaml.Node): boolean =>
  Yaml.isScalar(key) && (key.type ?? "PLAIN") === "PLAIN" && (key.source ?? key.value) === "<<"

/** A plain scalar keeps the text of the file; any other is the text that it denotes. */
const scalar = (node: Yaml.Scalar) => {
  const parsed = node.value as string | number | boolean | null
  return { text: typeof parsed === "string" ? parsed : (node.source ?? String(parsed)), parsed }
}
