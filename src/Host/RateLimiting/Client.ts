/**
 * Who a request counts for: clients by their addresses.
 */
import * as NetAddress from "effect/net/NetAddress"
import { isIPv4 } from "node:net"
import * as Address from "../ForwardedHeaders/Address.ts"
import * as Memo from "../Memo.ts"

/** The name of all clients together whose address is not known, such as those of a unix socket. */
export const unknown = "unknown"

/**
 * The name under which the requests of an address count: an IPv4 address itself, of an IPv6 address its /64, since that
 * is what one client is given. What is no address shares the name of the unknown, so that no client makes up new ones.
 */
export const nameOf = (address: string | undefined): string => (address === undefined ? unknown : nameOfText(address))

const nameOfText = Memo.make((text: string): string => {
  if (isIPv4(text)) return text
  const address = Address.parse(text)
  if (address === undefined) return unknown
  if (NetAddress.isIpv4Address(address)) return NetAddress.formatIp(address)
  const network = NetAddress.ipv6ToSegments(address).slice(0, 4)
  return `${network.map((segment) => segment.toString(16)).join(":")}::/64`
})
