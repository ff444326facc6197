import { describe, expect, it } from "@effect/vitest"
import Library from "sqids"
import * as Sqids from "../../src/SecretStore/Sqids.ts"
import { mulberry32 } from "./support/mulberry32.ts"

const library = new Library({ blocklist: new Set() })

describe("Sqids", () => {
  const random = mulberry32(20_260_102)
  const below = (limit: number) => Math.floor(random() * limit)

  it("spells numbers of every length as the library does, and reads them back", () => {
    const edges = [[0], [Number.MAX_SAFE_INTEGER], Array.from({ length: 30 }, () => Number.MAX_SAFE_INTEGER)]
    const lists = Array.from({ length: 20_000 }, () =>
      Array.from({ length: 1 + below(8) }, () => below(2 ** (1 + below(53))))
    )
    for (const numbers of [...edges, ...lists]) {
      const text = Sqids.encode(numbers)
      // Plain comparisons: an `expect` for each would take longer than all the rest.
      if (text !== library.encode(numbers)) expect.fail(`${numbers.join()} is spelled ${text}`)
      if (Sqids.decode(text).join() !== numbers.join()) expect.fail(`${text} is not read as ${numbers.join()}`)
    }
  })

  it("takes no text for the one spelling of numbers that is none to the library", () => {
    const characters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    const spelled = (text: string, numbers: ReadonlyArray<number>) =>
      numbers.every(Number.isSafeInteger) && library.encode([...numbers]) === text ? numbers.join() : "none"
    let valid = 0
    for (let i = 0; i < 20_000; i++) {
      const text = Array.from({ length: 1 + below(16) }, () => characters[below(characters.length)]!).join("")
      const expected = spelled(text, library.decode(text))
      if (expected !== "none") valid++
      if (spelled(text, Sqids.decode(text)) !== expected) expect.fail(`${text} is read as ${Sqids.decode(text).join()}`)
    }
    expect(valid).toBeGreaterThan(100)
  })
})
