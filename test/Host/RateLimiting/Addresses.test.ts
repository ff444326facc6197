import { assert, describe, it } from "@effect/vitest"
import * as NetAddress from "effect/net/NetAddress"
import * as Result from "effect/Result"
import * as AddressRange from "../../../src/Host/RateLimiting/AddressRange.ts"
import * as Client from "../../../src/Host/RateLimiting/Client.ts"
import { textsOf } from "./limiter.ts"

const contains = (range: string, address: string): boolean =>
  AddressRange.contains(
    Result.getOrThrow(AddressRange.parse(range)),
    AddressRange.positionOf(Result.getOrThrow(NetAddress.ipFromString(address)))
  )

describe("AddressRange", () => {
  for (const [range, inside, outside] of [
    ["127.0.0.1", ["127.0.0.1", "::ffff:127.0.0.1"], ["127.0.0.2", "::1", "::7f00:1"]],
    ["192.168.0.0/24", ["192.168.0.0", "192.168.0.255"], ["192.168.1.0", "191.255.255.255"]],
    ["192.168.3.22/25", ["192.168.3.0", "192.168.3.127"], ["192.168.3.128"]],
    ["0.0.0.0/0", ["0.0.0.0", "255.255.255.255"], ["::", "ffff::"]],
    ["::1/10", ["::1", "3f:ffff::"], ["40::", "10.0.0.1"]],
    ["fe80::/10", ["fe80::1", "febf:ffff::1"], ["fec0::"]],
    ["::/0", ["::", "ffff:ffff::"], ["10.0.0.1"]],
    ["::ffff:10.0.0.0/104", ["10.0.0.1", "10.255.255.255"], ["11.0.0.0", "::a00:1"]],
    ["192.168.0.10-192.168.1.20", ["192.168.0.10", "192.168.0.255", "192.168.1.20"], ["192.168.0.9", "192.168.1.21"]],
    ["2001:db8::1 - 2001:db8::ff", ["2001:db8::80"], ["2001:db8::100"]]
  ] as const) {
    it(range, () => {
      for (const address of inside) assert.isTrue(contains(range, address), address)
      for (const address of outside) assert.isFalse(contains(range, address), address)
    })
  }

  for (const [range, message] of [
    ["", " is not an address, a CIDR or a range a-b"],
    ["localhost", "localhost is not an address, a CIDR or a range a-b"],
    ["10.0.0.0/33", "10.0.0.0/33 is not an address, a CIDR or a range a-b"],
    ["10.0.0.1-", "10.0.0.1- is not an address, a CIDR or a range a-b"],
    ["10.0.0.2-10.0.0.1", "10.0.0.2-10.0.0.1 ends before it begins"],
    ["10.0.0.1-::1", "10.0.0.1-::1 begins and ends in different families of addresses"]
  ] as const) {
    it(`refuses ${JSON.stringify(range)}`, () => {
      assert.deepStrictEqual(AddressRange.parse(range), Result.fail(message))
    })
  }
})

describe("Client", () => {
  for (const [address, name] of [
    ["203.0.113.7", "203.0.113.7"],
    ["203.0.113.7:51234", "203.0.113.7"],
    ["203.0.113.7:_hidden", "203.0.113.7"],
    ["::ffff:203.0.113.7", "203.0.113.7"],
    ["::FFFF:cb00:7107", "203.0.113.7"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"],
    ["2001:DB8:1:2::", "2001:db8:1:2::/64"],
    ["[2001:db8:1:2::9]:443", "2001:db8:1:2::/64"],
    ["[2001:db8:1:2::9]", "2001:db8:1:2::/64"],
    ["fe80::1%eth0", "fe80:0:0:0::/64"],
    [undefined, Client.unknown],
    ["", Client.unknown],
    ["unknown", Client.unknown],
    ["203.0.113.256", Client.unknown],
    ["203.0.113.07", Client.unknown],
    ["203.0.113.7%eth0", Client.unknown],
    ["_hidden", Client.unknown]
  ] as const) {
    it(`${address} counts as ${name}`, () => {
      assert.strictEqual(Client.nameOf(address), name)
    })
  }

  it.prop(
    "has a name for whatever a proxy writes",
    [textsOf([..."01f:.[]%/- ", "::", "::ffff:", "203.0.113.7", "2001:db8::1", ":443", "%eth0", "é"])],
    ([text]) => {
      assert.match(Client.nameOf(text), /^(?:\d+\.\d+\.\d+\.\d+|(?:[0-9a-f]{1,4}:){4}:\/64|unknown)$/)
    }
  )
})
