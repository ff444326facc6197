import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import Sqids from "sqids"
import * as BucketSet from "../../src/SecretStore/BucketSet.ts"
import * as SecretId from "../../src/SecretStore/SecretId.ts"
import * as SecretType from "../../src/SecretStore/SecretType.ts"
import { Credentials } from "./support/Credentials.ts"
import { mulberry32 } from "./support/mulberry32.ts"

const parse = (text: string) => SecretId.parse(Credentials, text)

describe("SecretId", () => {
  it.effect("parses to what it was generated from, for every bucket and type", () =>
    Effect.gen(function* () {
      const wide = BucketSet.make("Wide", { Low: 0, Other: 12_345, High: BucketSet.maxNumber })
      for (const bucket of BucketSet.names(wide)) {
        for (const type of SecretType.all) {
          for (let i = 0; i < 50; i++) {
            const id = yield* SecretId.generate(wide, bucket, type)
            expect(id.id).toMatch(/^[A-Za-z0-9]{1,36}$/)
            expect(id.key).toMatch(/^[0-9a-f]{32}$/)
            expect(id).toMatchObject({ bucket, type })
            expect(SecretId.parse(wide, id.id)).toEqual(Option.some(id))
          }
        }
      }
    })
  )

  it("is a sqid of the bucket's number, the type's number and the key, now and in later versions", () => {
    const id = Option.getOrThrow(parse("1479L3rpS5atsoIdJdD2nNPKvAIT"))
    expect(id).toMatchObject({
      bucket: "DatabaseCredentials",
      type: "UsernamePasswordTotp",
      key: "00112233445566778899aabbccddeeff"
    })
    expect(new Sqids().decode(id.id).slice(0, 2)).toEqual([1, 1])
  })

  it("keeps its bucket when buckets are reordered or added", () => {
    const reordered = BucketSet.make("Renamed", { New: 9, ServiceAccounts: 2, DatabaseCredentials: 1, ApiKeys: 0 })
    const id = Effect.runSync(SecretId.generate(Credentials, "DatabaseCredentials", "Certificate"))
    expect(Option.map(SecretId.parse(reordered, id.id), ({ bucket }) => bucket)).toEqual(
      Option.some("DatabaseCredentials")
    )
  })

  it("keys do not repeat", () => {
    const generate = SecretId.generate(Credentials, "ApiKeys", "Certificate")
    const keys = Array.from({ length: 1000 }, () => Effect.runSync(generate).key)
    expect(new Set(keys).size).toBe(1000)
  })

  it("refuses ids of unknown buckets and types, keys out of range, and other spellings", () => {
    const sqids = new Sqids({ blocklist: new Set() })
    const key = [1, 2, 3]
    expect(Option.isSome(parse(sqids.encode([0, 0, ...key])))).toBe(true)
    for (const numbers of [
      [3, 0, ...key],
      [0, 4, ...key],
      [0, 0, 2 ** 43, 2, 3],
      [0, 0, 1, 2 ** 43, 3],
      [0, 0, 1, 2, 2 ** 42],
      [0, 0, 1, 2],
      [0, 0, 1, 2, 3, 4],
      [0],
      [0, 0]
    ]) {
      expect(parse(sqids.encode(numbers))).toEqual(Option.none())
    }
    // The library spells the same numbers in another way when a word is to be avoided.
    const canonical = sqids.encode([0, 0, ...key])
    const other = new Sqids({ blocklist: new Set([canonical]) }).encode([0, 0, ...key])
    expect(sqids.decode(other)).toEqual([0, 0, ...key])
    expect(parse(other)).toEqual(Option.none())
    expect(parse(`${canonical} `)).toEqual(Option.none())
    for (const nothing of [undefined, null, 5, {}, [canonical]]) {
      expect(parse(nothing as unknown as string)).toEqual(Option.none())
    }
  })

  it("100,000 random and mutated texts: never throws, never spells an id differently, never leaves the alphabet", () => {
    const random = mulberry32(20_260_101)
    const below = (limit: number) => Math.floor(random() * limit)
    const pick = <A>(from: ArrayLike<A>): A => from[below(from.length)]!
    const sqids = new Sqids({ blocklist: new Set() })
    const alphanumerics = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
    const text = (length: number, unit: () => string) => Array.from({ length }, unit).join("")
    const hostile = [
      "../",
      "..\\",
      "%2e%2e%2f",
      "\0",
      "/etc/passwd",
      ".",
      "//",
      "\u202e",
      "١",
      "ｅ",
      "\ud800",
      "constructor"
    ]
    const valid = Array.from({ length: 200 }, () =>
      Effect.runSync(SecretId.generate(Credentials, pick(BucketSet.names(Credentials)), pick(SecretType.all)))
    )
    const mutate = (id: string): string => {
      const at = below(id.length)
      switch (below(7)) {
        case 0:
          return id.slice(0, at) + pick(alphanumerics) + id.slice(at + 1)
        case 1:
          return id.slice(0, at) + id.slice(at + 1)
        case 2:
          return id.slice(0, at) + pick(alphanumerics) + id.slice(at)
        case 3:
          return id.slice(0, at) + pick(hostile) + id.slice(at)
        case 4:
          return id.slice(at) + id.slice(0, at)
        case 5:
          return random() < 0.5 ? id.toLowerCase() : id.toUpperCase()
        default:
          return id.slice(0, at) + String.fromCharCode(id.charCodeAt(at) ^ (1 << below(16))) + id.slice(at + 1)
      }
    }
    const kinds: ReadonlyArray<() => string> = [
      () => text(below(48), () => pick(alphanumerics)),
      () => text(below(48), () => String.fromCharCode(below(256))),
      () => text(below(24), () => String.fromCodePoint(below(0x110000))),
      () => text(below(6), () => pick(hostile)) + (random() < 0.5 ? pick(valid).id : ""),
      () => sqids.encode(Array.from({ length: below(7) }, () => below(2 ** (1 + below(52))))),
      () => sqids.encode([below(4), below(5), below(2 ** 43), below(2 ** 43), below(2 ** 42)]),
      () => mutate(pick(valid).id),
      () => mutate(mutate(pick(valid).id)),
      () => pick(valid).id
    ]
    let parsed = 0
    for (let i = 0; i < 100_000; i++) {
      const input = kinds[i % kinds.length]!()
      const id = parse(input)
      if (Option.isNone(id)) continue
      parsed++
      const { bucket, key, type } = id.value
      // Plain comparisons: an `expect` for each would take longer than all the parsing.
      if (
        id.value.id !== input ||
        !/^[A-Za-z0-9]{1,36}$/.test(input) ||
        !/^[0-9a-f]{32}$/.test(key) ||
        !BucketSet.has(Credentials, bucket) ||
        !SecretType.isSecretType(type)
      ) {
        expect.fail(`${JSON.stringify(input)} was read as ${JSON.stringify(id.value)}`)
      }
    }
    // The valid ones, and about half of those that are sqids of the right shape.
    expect(parsed).toBeGreaterThan(11_000)
    expect(parsed).toBeLessThan(40_000)
  })

  it("long input is refused at once", () => {
    expect(parse("a".repeat(50_000_000))).toEqual(Option.none())
  })

  it("has a Schema for path parameters", () => {
    const id = Effect.runSync(SecretId.generate(Credentials, "ApiKeys", "UsernamePassword"))
    const schema = SecretId.schema(Credentials)
    expect(Schema.decodeUnknownSync(schema)(id.id)).toEqual(id)
    expect(Schema.encodeSync(schema)(id)).toBe(id.id)
    expect(() => Schema.decodeUnknownSync(schema)("../../etc/passwd")).toThrow(
      "Expected the id of a secret in Credentials"
    )
    expect(() => Schema.encodeUnknownSync(schema)({ ...id, bucket: "Other" })).toThrow("a secret id of Credentials")
  })
})
