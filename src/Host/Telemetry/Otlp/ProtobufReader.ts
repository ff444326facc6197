/** Reads the fields of a protobuf message, as far as the host reads any: integers, and parts that have a length. */

/** A field as it stands on the wire. */
export interface WireField {
  readonly number: number
  readonly value: bigint | Uint8Array
}

/** The fields in their order. What is cut off or malformed ends the list. */
export const read = (bytes: Uint8Array): ReadonlyArray<WireField> => {
  const fields: Array<WireField> = []
  let at = 0

  const varint = (): bigint | undefined => {
    let value = 0n
    for (let shift = 0n; shift < 70n && at < bytes.length; shift += 7n) {
      const byte = bytes[at++]!
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
    return undefined
  }
  const part = (length: number): Uint8Array | undefined => {
    if (length > bytes.length - at) return undefined
    at += length
    return bytes.subarray(at - length, at)
  }

  while (at < bytes.length) {
    const tag = varint()
    if (tag === undefined) break
    const value = valueOf(Number(tag & 7n), varint, part)
    if (value === undefined) break
    fields.push({ number: Number(tag >> 3n), value })
  }
  return fields
}

const valueOf = (
  wireType: number,
  varint: () => bigint | undefined,
  part: (length: number) => Uint8Array | undefined
): bigint | Uint8Array | undefined => {
  switch (wireType) {
    case 0:
      return varint()
    case 1:
      return part(8)
    case 2: {
      const length = varint()
      return length === undefined ? undefined : part(Number(length))
    }
    case 5:
      return part(4)
    default:
      return undefined
  }
}

/** The bytes of the first field of that number. */
export const bytesOf = (fields: ReadonlyArray<WireField>, number: number): Uint8Array | undefined => {
  const value = fields.find((field) => field.number === number)?.value
  return typeof value === "bigint" ? undefined : value
}

/** The text of the first field of that number; empty where there is none, as protobuf has it. */
export const textOf = (fields: ReadonlyArray<WireField>, number: number): string => {
  const bytes = bytesOf(fields, number)
  return bytes === undefined ? "" : Buffer.from(bytes).toString("utf8")
}

/** The signed integer of the first field of that number; 0 where there is none, as protobuf has it. */
export const integerOf = (fields: ReadonlyArray<WireField>, number: number): number => {
  const value = fields.find((field) => field.number === number)?.value
  return typeof value === "bigint" ? Number(BigInt.asIntN(64, value)) : 0
}
