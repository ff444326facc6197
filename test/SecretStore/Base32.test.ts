import { describe, expect, it } from "@effect/vitest"
import * as Option from "effect/Option"
import * as Base32 from "../../src/SecretStore/Base32.ts"

const text = (input: string) => Option.map(Base32.decode(input), (bytes) => Buffer.from(bytes).toString("latin1"))

describe("Base32", () => {
  // RFC 4648, section 10.
  it.each([
    ["MY======", "f"],
    ["MZXQ====", "fo"],
    ["MZXW6===", "foo"],
    ["MZXW6YQ=", "foob"],
    ["MZXW6YTB", "fooba"],
    ["MZXW6YTBOI======", "foobar"]
  ])("decodes %s to %s, with padding and without", (encoded, decoded) => {
    expect(text(encoded)).toEqual(Option.some(decoded))
    expect(text(encoded.replaceAll("=", ""))).toEqual(Option.some(decoded))
  })

  it("decodes every byte", () => {
    const bytes = Uint8Array.from({ length: 255 }, (_, i) => i)
    const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, "0")).join("")
    const digits = bits.match(/.{5}/g)!.map((five) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"[Number.parseInt(five, 2)])
    expect(Base32.decode(digits.join(""))).toEqual(Option.some(bytes))
  })

  it("accepts spaces and lower case", () => {
    expect(text(" mzxw 6ytb\toi ")).toEqual(Option.some("foobar"))
  })

  it.each(["", " ", "====", "M", "MZX", "MZXW6Y", "MZXW1YTB", "MZXW8YTB", "MZ=XW6YTB", "MZXW-6YTB", "MZXWßYTB"])(
    "refuses %j",
    (input) => expect(Base32.decode(input)).toEqual(Option.none())
  )
})
