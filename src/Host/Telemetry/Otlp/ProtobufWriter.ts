/**
 * Writes protobuf messages (https://protobuf.dev/programming-guides/encoding/) from plain objects, by tables of their fields.
 */

/** A field of a message. */
export interface Field {
  readonly number: number
  readonly type: ScalarType | Message | FieldWriter
  /** `each`: a list, one tag an element. `packed`: a list of numbers behind one tag. */
  readonly list?: "each" | "packed"
}

/** How a value stands on the wire; `hex` is bytes given as hexadecimal text. */
export type ScalarType = "string" | "hex" | "bool" | "varint" | "fixed64" | "fixed32" | "double"

/** Writes a field by itself, tags and all, where that is quicker than to make objects for a table. */
export type FieldWriter = (number: number, value: never) => void

/** The fields of a message by their names in JSON. */
export interface Message {
  readonly [name: string]: Field
}

/**
 * A message as a field of another: its tag, its length, its bytes. Fields that are absent or undefined are left out, those
 * that the table does not know too. The bytes are to be copied before anything else is encoded.
 */
export const encodeField = (number: number, message: Message, value: object): Uint8Array =>
  written(() => writeMessageField(number, message, value))

/** The tag and the length of a field whose message is already encoded. To be copied as the bytes of {@link encodeField}. */
export const encodePrefix = (number: number, length: number): Uint8Array =>
  written(() => {
    writeTag(number, 2)
    writeVarint(length)
  })

// Everything here is synchronous, so that one buffer, which grows as needed, serves all messages.
let buffer = Buffer.allocUnsafe(16_384)
let at = 0

/**
 * The bytes that a function writes, which the next one may write over. Values have code of their own, and one may come back
 * here while it is written: what it writes stands behind what there is.
 */
const written = (write: () => void): Uint8Array => {
  const start = at
  try {
    write()
    return buffer.subarray(start, at)
  } finally {
    at = start
  }
}

const word = new BigUint64Array(1)
const wordBytes = new Uint8Array(word.buffer)

const reserve = (bytes: number): void => {
  if (at + bytes <= buffer.length) return
  const larger = Buffer.allocUnsafe(Math.max(buffer.length * 2, at + bytes))
  buffer.copy(larger, 0, 0, at)
  buffer = larger
}

/** Writes the fields of a message. */
export const writeMessage = (message: Message, value: object): void => {
  for (const name in value) {
    const field = message[name]
    const part = (value as Record<string, unknown>)[name]
    if (field === undefined || part === undefined) continue
    if (field.list === "each") for (const element of part as ReadonlyArray<unknown>) writeField(field, element)
    else if (field.list === "packed") writePacked(field, part as ReadonlyArray<unknown>)
    else writeField(field, part)
  }
}

const writeMessageField = (number: number, message: Message, value: object): void => {
  writeTag(number, 2)
  const start = beginLength()
  writeMessage(message, value)
  endLength(start)
}

const wireTypes: { readonly [Type in ScalarType]: number } = {
  string: 2,
  hex: 2,
  bool: 0,
  varint: 0,
  fixed64: 1,
  fixed32: 5,
  double: 1
}

const writeField = (field: Field, value: unknown): void => {
  const { number, type } = field
  if (typeof type === "string") writeScalarField(number, type, value)
  else if (typeof type === "function") type(number, value as never)
  else writeMessageField(number, type, value as object)
}

/** Writes a field that holds one scalar. */
export const writeScalarField = (number: number, type: ScalarType, value: unknown): void => {
  writeTag(number, wireTypes[type])
  writeScalar(type, value)
}

const writePacked = (field: Field, values: ReadonlyArray<unknown>): void => {
  if (values.length === 0) return
  writeTag(field.number, 2)
  const start = beginLength()
  for (const value of values) writeScalar(field.type as ScalarType, value)
  endLength(start)
}

/** Leaves room for the length of what follows, one byte, which most parts need; gives what {@link endLength} takes. */
export const beginLength = (): number => {
  reserve(1)
  return ++at
}

/** Writes the length before what was written since, which moves on where one byte is not enough. */
export const endLength = (start: number): void => {
  const length = at - start
  const more = length < 0x80 ? 0 : sizeOfVarint(length) - 1
  if (more > 0) {
    reserve(more)
    buffer.copyWithin(start + more, start, at)
  }
  at = start - 1
  writeVarint(length)
  at += length
}

/** Writes what a field begins with; 2 is the wire type of what has a length. */
export const writeTag = (number: number, wireType: number): void => writeVarint((number << 3) | wireType)

const sizeOfVarint = (value: number): number => Math.max(1, Math.ceil((32 - Math.clz32(value)) / 7))

const writeVarint = (value: number): void => {
  reserve(5)
  let rest = value
  while (rest > 0x7f) {
    buffer[at++] = (rest & 0x7f) | 0x80
    rest >>>= 7
  }
  buffer[at++] = rest
}

/** A whole number beyond 31 bits, or below zero, which stands as its two's complement. */
const writeVarint64 = (value: bigint): void => {
  reserve(10)
  let rest = BigInt.asUintN(64, value)
  while (rest > 0x7fn) {
    buffer[at++] = Number(rest & 0x7fn) | 0x80
    rest >>= 7n
  }
  buffer[at++] = Number(rest)
}

const writeScalar = (type: ScalarType, value: unknown): void => {
  switch (type) {
    case "string":
      return writeString(value as string)
    case "hex":
      return writeHex(value as string)
    case "bool":
      return writeVarint(value === true ? 1 : 0)
    case "varint":
      return typeof value === "number" && value >= 0 && value <= 0x7fff_ffff
        ? writeVarint(value)
        : writeVarint64(BigInt(value as string))
    case "fixed64":
      // The store takes the last 64 bits.
      word[0] = typeof value === "bigint" ? value : BigInt(value as string)
      reserve(8)
      buffer.set(wordBytes, at)
      at += 8
      return
    case "fixed32":
      reserve(4)
      buffer.writeUInt32LE(value as number, at)
      at += 4
      return
    case "double":
      reserve(8)
      buffer.writeDoubleLE(value as number, at)
      at += 8
  }
}

/** Shorter texts are copied here, which is quicker than to call out of JavaScript. */
const shortLength = 48

const writeString = (text: string): void => {
  if (text.length <= shortLength && writeShort(text)) return
  const length = Buffer.byteLength(text)
  writeVarint(length)
  reserve(length)
  at += buffer.write(text, at, "utf8")
}

/** Writes a text of ASCII characters; undoes what it did where one is none. */
const writeShort = (text: string): boolean => {
  const { length } = text
  const start = at
  reserve(1 + length)
  buffer[at++] = length
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i)
    if (code > 0x7f) {
      at = start
      return false
    }
    buffer[at++] = code
  }
  return true
}

const writeHex = (text: string): void => {
  const length = text.length / 2
  writeVarint(length)
  reserve(length)
  for (let i = 0; i < text.length; i += 2) {
    buffer[at++] = (digitOf(text.charCodeAt(i)) << 4) | digitOf(text.charCodeAt(i + 1))
  }
}

/** The value of a lower-case hexadecimal digit. */
const digitOf = (code: number): number => (code <= 0x39 ? code - 0x30 : code - 0x57)
