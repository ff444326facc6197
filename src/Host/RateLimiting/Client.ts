/**
 * Who a request counts for: clients by their addresses.
 */
import * as NetAddress from "effect/net/NetAddress"
import * as Result from "effect/Result"
import { isIPv4 } from "node:net"

/** The name of all clients together whose address is not known, such as those of a unix socket. */
export const unknown = "unknown"

/**
 * The name under which the requests of an address count: an IPv4 address itself, of an IPv6 address its /64, since that
 * is what one client is given. What is no address shares the name of the unknown, so that no client makes up new ones.
 */
export const nameOf = (text: string | undefined): string => {
  if (text === undefined) return unknown
  // As an IPv6 listener sees an IPv4 client.
  const plain = text.startsWith("::ffff:") ? text.slice("::ffff:".length) : text
  if (isIPv4(plain)) return plain
  const address = parse(text)
  if (address === undefined) return unknown
  if (NetAddress.isIpv4Address(address)) return NetAddress.formatIp(address)
  const network = NetAddress.ipv6ToSegments(address).slice(0, 4)
  return `${network.map((segment) => segment.toString(16)).join(":")}::/64`
}

/**
 * Reads an address as connections and proxies write it: with or without brackets, port and zone. IPv4 in its IPv6
 * mapping is IPv4.
 */
export const parse = (text: string): NetAddress.IpAddress | undefined => {
  const [, bracketed, v4] = /^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/.exec(text) ?? []
  const bare = bracketed ?? v4 ?? text
  const zone = bare.indexOf("%")
  const address = NetAddress.ipFromString(zone < 0 ? bare : bare.slice(0, zone))
  return Result.isSuccess(address) ? NetAddress.toCanonical(address.success) : undefined
}
