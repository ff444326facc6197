import { describe, expect, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as BucketSet from "../../src/SecretStore/BucketSet.ts"

describe("BucketSet", () => {
  it("keeps names and numbers, whatever later happens to what it was made of", () => {
    const numbers = { ApiKeys: 0, Databases: 7 }
    const buckets = BucketSet.make("Credentials", numbers)
    numbers.ApiKeys = 5
    expect(buckets).toEqual({ name: "Credentials", numbers: { ApiKeys: 0, Databases: 7 } })
    expect(BucketSet.names(buckets)).toEqual(["ApiKeys", "Databases"])
  })

  it.each([
    ["the name of the set", "../up", { A: 0 }],
    ["the name of the set", "", { A: 0 }],
    ["the name of the set", "a/b", { A: 0 }],
    ["the name of the set", ".hidden", { A: 0 }],
    ["the name of the set", "x".repeat(65), { A: 0 }],
    ["the name of bucket", "Set", { "..": 0 }],
    ["the name of bucket", "Set", { "a\0b": 0 }],
    ["it has no buckets", "Set", {}],
    ["must be an integer", "Set", { A: -1 }],
    ["must be an integer", "Set", { A: 1.5 }],
    ["must be an integer", "Set", { A: Number.NaN }],
    ["must be an integer", "Set", { A: 2 ** 31 }],
    ['"A" and "B" have the same number 1', "Set", { A: 1, B: 1 }],
    ['"Api" and "API" differ only in case', "Set", { Api: 1, API: 2 }]
  ])("refuses what is unfit: %s", (fault, name, numbers) => {
    expect(() => BucketSet.make(name, numbers as Record<string, number>)).toThrow(fault)
  })

  it("tells all faults at once", () => {
    expect(() => BucketSet.make("..", { A: -1, B: 0, C: 0 })).toThrow(/name of the set.*bucket "A".*same number 0/)
  })

  it("takes names that every object has for what they are", () => {
    const buckets = BucketSet.make("Set", { A: 0 })
    expect(BucketSet.has(buckets, "A")).toBe(true)
    for (const name of ["constructor", "__proto__", "toString", "a", 0, undefined]) {
      expect(BucketSet.has(buckets, name)).toBe(false)
    }
  })

  it("has a Schema that lists the known buckets", () => {
    const decode = Schema.decodeUnknownSync(BucketSet.schema(BucketSet.make("Set", { A: 0, B: 1 })))
    expect(decode("B")).toBe("B")
    expect(() => decode("C")).toThrow("Expected a bucket of Set: A, B")
  })
})
