/**
 * Addresses of clients and proxies, as connections and headers spell them.
 */
import * as NetAddress from "effect/net/NetAddress"
import * as Result from "effect/Result"
import { BlockList, isIPv4 } from "node:net"

/** IPv4 with a port, or IPv6 in brackets with or without one; a port may hide behind a made-up name (RFC 7239, section 6). */
const withPort = /^(?:([\d.]+)|\[([^\]]*)\])(?::(?:\d{1,5}|_[\w.-]+))?$/

/**
 * Reads an address as connections and proxies write it: with or without brackets, port and zone. IPv4 inside IPv6 is IPv4.
 * Absent for everything that is no address, such as `unknown` and the names that RFC 7239 hides clients behind.
 */
export const parse = (text: string): NetAddress.IpAddress | undefined => {
  const [, ipv4, ipv6] = withPort.exec(text) ?? []
  const literal = ipv4 ?? ipv6 ?? text
  // The zone of an IPv6 address, which means something to its own machine alone (RFC 4007, section 11).
  const zone = literal.indexOf("%")
  const address = NetAddress.ipFromString(zone < 0 || zone === literal.length - 1 ? literal : literal.slice(0, zone))
  if (Result.isFailure(address)) return undefined
  const mustBeIpv6 = ipv6 !== undefined || zone >= 0
  return mustBeIpv6 && NetAddress.isIpv4Address(address.success) ? undefined : NetAddress.toCanonical(address.success)
}

/** The one spelling of an address that {@link parse} reads, without brackets, port and zone. */
export const read = (text: string): string | undefined => {
  if (isIPv4(text)) return text
  const address = parse(text)
  return address === undefined ? undefined : NetAddress.formatIp(address)
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
