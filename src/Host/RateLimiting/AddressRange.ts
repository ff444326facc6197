/**
 * Ranges of client addresses, as white lists and policies name them.
 */
import * as IpInterface from "effect/net/IpInterface"
import * as IpNetwork from "effect/net/IpNetwork"
import * as NetAddress from "effect/net/NetAddress"
import * as Result from "effect/Result"

/** Where an address stands among all addresses: those of IPv6 first, those of IPv4 behind them. */
export type Position = bigint

/** All addresses from the first to the last, both included; one family only. */
export interface AddressRange {
  readonly first: Position
  readonly last: Position
}

const behindIpv6 = 1n << 128n

/** The position of an address. One that maps an IPv4 address into IPv6 stands where the IPv4 address does. */
export const positionOf = (address: NetAddress.IpAddress): Position => {
  const canonical = NetAddress.toCanonical(address)
  return NetAddress.isIpv4Address(canonical)
    ? behindIpv6 + toBigInt(NetAddress.ipv4ToOctets(canonical))
    : toBigInt(NetAddress.ipv6ToOctets(canonical))
}

const toBigInt = (octets: ReadonlyArray<number>): bigint =>
  octets.reduce((value, octet) => (value << 8n) | BigInt(octet), 0n)

/** Whether the range contains an address. */
export const contains = (range: AddressRange, position: Position): boolean =>
  range.first <= position && position <= range.last

/** Reads an address, a CIDR (whose host bits do not matter) or a range `a-b`. */
export const parse = (text: string): Result.Result<AddressRange, string> =>
  endsOf(text.trim()).pipe(
    Result.mapError(() => `${text} is not an address, a CIDR or a range a-b`),
    Result.map(([first, last]) => ({ first: positionOf(first), last: positionOf(last) })),
    Result.flatMap((range) => {
      if (range.first < behindIpv6 !== range.last < behindIpv6) {
        return Result.fail(`${text} begins and ends in different families of addresses`)
      }
      return range.first <= range.last ? Result.succeed(range) : Result.fail(`${text} ends before it begins`)
    })
  )

const endsOf = (
  text: string
): Result.Result<readonly [NetAddress.IpAddress, NetAddress.IpAddress], NetAddress.NetAddressError> => {
  const dash = text.indexOf("-")
  if (dash >= 0) {
    return Result.flatMap(NetAddress.ipFromString(text.slice(0, dash).trim()), (first) =>
      Result.map(NetAddress.ipFromString(text.slice(dash + 1).trim()), (last) => [first, last] as const)
    )
  }
  return Result.map(IpInterface.fromString(text), (address) => {
    const network = IpNetwork.fromInterface(address)
    return [IpNetwork.firstAddress(network), IpNetwork.lastAddress(network)] as const
  })
}
