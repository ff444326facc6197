import { assert, describe, it } from "@effect/vitest"
import * as Result from "effect/Result"
import { textOf } from "./support.ts"
import * as Address from "../../../src/Host/ForwardedHeaders/Address.ts"

describe("Address.read", () => {
  it.each([
    ["192.0.2.1", "192.0.2.1"],
    ["192.0.2.1:4711", "192.0.2.1"],
    ["192.0.2.1:_port", "192.0.2.1"],
    ["2001:db8::1", "2001:db8::1"],
    ["2001:DB8:0:0::1", "2001:db8::1"],
    ["[2001:db8::1]", "2001:db8::1"],
    ["[2001:db8::1]:4711", "2001:db8::1"],
    ["[2001:db8::1]:_port", "2001:db8::1"],
    ["fe80::1%eth0", "fe80::1"],
    ["[fe80::1%25eth0]:80", "fe80::1"],
    ["::ffff:192.0.2.1", "192.0.2.1"],
    ["[::ffff:c000:201]:80", "192.0.2.1"]
  ])("reads %s as %s", (text, address) => {
    assert.strictEqual(Address.read(text), address)
  })

  it.each([
    "",
    "unknown",
    "_hidden",
    "_SEVKISEK",
    "192.0.2",
    "192.0.2.256",
    "192.0.2.01",
    "192.0.2.1:",
    "192.0.2.1:port",
    "192.0.2.1:123456",
    " 192.0.2.1",
    "[192.0.2.1]:80x",
    "[192.0.2.1]",
    "[192.0.2.1]:80",
    "192.0.2.1%eth0",
    "192.0.2.1%eth0:80",
    "fe80::1%",
    "[fe80::1%]:80",
    "[2001:db8::1",
    "2001:db8::1]",
    "[2001:db8::1]4711",
    "2001:db8::1::2",
    "example.com",
    "192.0.2.1/24",
    "%"
  ])("takes %j for no address", (text) => {
    assert.isUndefined(Address.read(text))
  })

  it.prop(
    "reads what it has read once the same",
    { text: textOf([..."012589abcdef.:[]%_ ", "192.0.2.1", "::ffff:", "unknown"]) },
    ({ text }) => {
      const address = Address.read(text)
      if (address !== undefined) assert.strictEqual(Address.read(address), address)
    }
  )
})

describe("networks", () => {
  const contains = (network: string, address: string) =>
    Address.isIn([Result.getOrThrow(Address.readNetwork(network))])(Address.read(address)!)

  it.each([
    ["10.0.0.0/8", "10.255.0.1", true],
    ["10.0.0.0/8", "11.0.0.1", false],
    ["10.1.2.3/8", "10.9.9.9", true],
    ["192.0.2.1", "192.0.2.1", true],
    ["192.0.2.1", "192.0.2.2", false],
    ["192.0.2.1/32", "192.0.2.2", false],
    ["0.0.0.0/0", "198.51.100.7", true],
    ["0.0.0.0/0", "2001:db8::1", false],
    ["2001:db8::/32", "2001:db8:1::1", true],
    ["2001:db8::/32", "2001:db9::1", false],
    ["::/0", "2001:db8::1", true],
    ["::1", "::1", true],
    ["10.0.0.0/8", "::ffff:10.0.0.1", true],
    ["::ffff:10.0.0.0/104", "10.9.9.9", true],
    ["::ffff:10.0.0.0/104", "11.0.0.1", false]
  ])("%s contains %s: %s", (network, address, expected) => {
    assert.strictEqual(contains(network, address), expected)
  })

  it.each([
    "",
    "proxy.example.com",
    "10.0.0.0/33",
    "2001:db8::/129",
    "::ffff:10.0.0.0/95",
    "10.0.0.0/",
    "10.0.0.0/-1",
    "10.0.0/8",
    "[::1]",
    "10.0.0.1-10.0.0.9"
  ])("refuses %j", (text) => {
    assert.isTrue(Result.isFailure(Address.readNetwork(text)))
  })

  it("has room for none", () => {
    assert.isFalse(Address.isIn([])("192.0.2.1"))
  })
})
