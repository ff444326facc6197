/**
 * Addresses of clients and proxies, as connections and headers spell them.
 */
import * as NetAddress from "effect/net/NetAddress"
import * as Result from "effect/Result"
import { BlockList, isIPv4 } from "node:net"

/** IPv4 with a port, or IPv6 in brackets with or without one; RFC 7239 lets a port be hidden behind a made-up name. */
const withPort = /^(?:([\d.]+)|\[([^\]]*)\])(?::(?:\d{1,5}|_[\w.-]+))?$/

/**
 * The one spelling of an address, without brackets, port and zone; IPv4 inside IPv6 is IPv4. Absent for everything that is
 * no address, such as `unknown` and the names that RFC 7239 hides clients behind.
 */
export const read = (text: string): string | undefined => {
  if (isIPv4(text)) return text
  const [, ipv4, ipv6] = withPort.exec(text) ?? []
  const [bare] = (ipv4 ?? ipv6 ?? text).split("%", 1)
  const address = NetAddress.ipFromString(bare!)
  return Result.isSuccess(address) ? NetAddress.formatIp(NetAddress.toCanonical(address.success)) : undefined
}

/** All addresses that begin with the same bits. */
export interface Network {
  readonly address: string
  readonly prefixLength: number
}

/** Reads an address or a CIDR. */
export const readNetwork = (text: string): Result.Result<Network, string> => {
  const [, base, length] = /^([^/]*)(?:\/(\d{1,3}))?$/.exec(text.trim()) ?? []
  const address = base?.includes("[") === false ? read(base) : undefined
  if (address === undefined) return Result.fail(`${text} is not an address or a CIDR`)
  const bits = isIPv4(address) ? 32 : 128
  // The bits in front of an IPv4 address inside IPv6 are not of it.
  const prefixLength = length === undefined ? bits : Number(length) - (isIPv4(base!) ? 0 : bits === 32 ? 96 : 0)
  return prefixLength < 0 || prefixLength > bits
    ? Result.fail(`${text}: the length of the network is out of range`)
    : Result.succeed({ address, prefixLength })
}

/** Whether an address, as {@link read} spells it, belongs to one of the networks. */
export const isIn = (networks: ReadonlyArray<Network>): ((address: string) => boolean) => {
  const list = new BlockList()
  for (const { address, prefixLength } of networks) list.addSubnet(address, prefixLength, family(address))
  return (address) => list.check(address, family(address))
}

const family = (address: string): "ipv4" | "ipv6" => (isIPv4(address) ? "ipv4" : "ipv6")
