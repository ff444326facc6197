/**
 * YAML on the wire, as another spelling of JSON.
 *
 * Endpoints know JSON only. A YAML body is turned into JSON before the endpoint reads it, and a JSON answer into YAML after,
 * so that every endpoint, and every error, speaks both. What JSON cannot say (`.nan`, a list as a key, an application's own
 * tags) is refused rather than bent.
 */
import * as YAML from "yaml"
import { maxDepth, tooDeep } from "./Nesting.ts"
import { BodyTooLarge, MalformedBody } from "./RequestError.ts"

/** The parser needs about a kilobyte of memory for each token, so that the size of a text says too little. */
const maxTokens = 200_000

/** A few bytes of aliases may stand for very many values. */
const maxAliasedValues = 10_000

/**
 * The JSON text that says what a YAML text says; empty where the YAML text holds nothing.
 *
 * Throws {@link MalformedBody}, or {@link BodyTooLarge} where the JSON text would have more than `maxSize` bytes: aliases
 * multiply what they stand for.
 */
export const toJson = (text: string, maxSize: number): string => {
  let tokens = 0
  for (const _token of new YAML.Lexer().lex(text)) {
    if (++tokens > maxTokens) throw new BodyTooLarge({ message: `The YAML has more than ${maxTokens} tokens.` })
  }
  const lines = new YAML.LineCounter()
  const document = YAML.parseDocument(text, {
    version: "1.2",
    // The parser compares every two keys of a map; the writer needs but one look at each.
    uniqueKeys: false,
    resolveKnownTags: false,
    prettyErrors: false,
    logLevel: "error",
    lineCounter: lines
  })
  // An unknown tag or version is a mere warning to the parser; here it would change what a value means.
  const fault = document.errors[0] ?? document.warnings[0]
  if (fault !== undefined) throw malformed(describe(fault), lines, fault.pos[0])
  if (document.directives?.yaml.version !== "1.2") throw new MalformedBody({ message: "Expected YAML 1.2" })
  return document.contents === null ? "" : new JsonWriter(document, lines, maxSize).result
}

const describe = (fault: YAML.YAMLError): string => {
  if (fault.code === "RESOURCE_EXHAUSTION") return tooDeep
  if (fault.code === "MULTIPLE_DOCS") return "Expected one document"
  // Behind the colon the parser quotes the text.
  return fault.code === "UNEXPECTED_TOKEN" ? fault.message.replace(/: .*$/s, "") : fault.message
}

const malformed = (message: string, lines: YAML.LineCounter, offset: number): MalformedBody => {
  const { line, col } = lines.linePos(offset)
  return new MalformedBody({ message: `${message} (line ${line}, column ${col})` })
}

/** Writes a document as JSON. */
class JsonWriter {
  result = ""
  readonly #lines: YAML.LineCounter
  readonly #maxSize: number
  readonly #targets: ReadonlyMap<YAML.Alias, YAML.Node>
  #size = 0
  #openAliases = 0
  #aliasedValues = 0

  constructor(document: YAML.Document.Parsed, lines: YAML.LineCounter, maxSize: number) {
    this.#lines = lines
    this.#maxSize = maxSize
    this.#targets = aliasTargets(document)
    this.#value(document.contents, 0)
  }

  #value(node: YAML.Node | null, depth: number): void {
    if (depth >= maxDepth && YAML.isCollection(node)) throw this.#malformed(tooDeep, node)
    if (this.#openAliases > 0 && ++this.#aliasedValues > maxAliasedValues) {
      throw new BodyTooLarge({ message: `The YAML stands for more than ${maxAliasedValues} values through aliases.` })
    }
    if (node === null) return this.#write("null")
    if (YAML.isAlias(node)) {
      this.#openAliases++
      this.#value(this.#resolve(node), depth)
      this.#openAliases--
      return
    }
    if (YAML.isMap<YAML.Node, YAML.Node | null>(node)) this.#object(node, depth)
    else if (YAML.isSeq<YAML.Node>(node)) this.#array(node, depth)
    else this.#write(this.#scalar(node as YAML.Scalar))
  }

  #object(map: YAML.YAMLMap<YAML.Node, YAML.Node | null>, depth: number): void {
    const keys = new Set<string>()
    this.#write("{")
    for (const { key, value } of map.items) {
      const name = this.#key(key)
      if (keys.has(name)) throw this.#malformed("Expected each key once", key)
      this.#write(`${keys.size === 0 ? "" : ","}${JSON.stringify(name)}:`)
      keys.add(name)
      this.#value(value, depth + 1)
    }
    this.#write("}")
  }

  #array(list: YAML.YAMLSeq<YAML.Node>, depth: number): void {
    this.#write("[")
    list.items.forEach((item, index) => {
      if (index > 0) this.#write(",")
      this.#value(item, depth + 1)
    })
    this.#write("]")
  }

  /** A key is text; a number or a boolean in its place is taken as it is spelled. */
  #key(node: YAML.Node): string {
    const key = this.#resolve(node)
    if (!YAML.isScalar(key) || key.value === null) throw this.#malformed("Expected a text as key", node)
    return typeof key.value === "string" ? key.value : (key.source ?? String(key.value))
  }

  #scalar(node: YAML.Scalar): string {
    const { value } = node
    if (typeof value === "number" && !Number.isFinite(value)) throw this.#malformed("Expected a finite number", node)
    return JSON.stringify(value)
  }

  #resolve(node: YAML.Node): YAML.Node {
    if (!YAML.isAlias(node)) return node
    const target = this.#targets.get(node)
    if (target === undefined) throw this.#malformed("Expected an anchor before its alias", node)
    return target
  }

  #write(json: string): void {
    this.#size += Buffer.byteLength(json)
    if (this.#size > this.#maxSize) {
      throw new BodyTooLarge({ message: `The YAML stands for more than ${this.#maxSize} bytes of JSON.` })
    }
    this.result += json
  }

  #malformed(message: string, node: YAML.Node | null): MalformedBody {
    return malformed(message, this.#lines, node?.range?.[0] ?? 0)
  }
}

/** An alias means the last anchor of its name before it: one walk in document order finds them all. */
const aliasTargets = (document: YAML.Document.Parsed): ReadonlyMap<YAML.Alias, YAML.Node> => {
  const anchors = new Map<string, YAML.Node>()
  const targets = new Map<YAML.Alias, YAML.Node>()
  YAML.visit(document, {
    Node: (_key, node) => {
      if (YAML.isAlias(node)) {
        const target = anchors.get(node.source)
        if (target !== undefined) targets.set(node, target)
      } else if (node.anchor !== undefined) anchors.set(node.anchor, node)
    }
  })
  return targets
}

/** The YAML text that says what a JSON text says; absent where the text is not JSON after all, or nested too deeply. */
export const fromJson = (text: string): string | undefined => {
  try {
    // Block scalars lose the white space of some texts.
    return YAML.stringify(JSON.parse(text), { aliasDuplicateObjects: false, blockQuote: false, lineWidth: 0 })
  } catch {
    return undefined
  }
}
