/**
 * Who a request comes from, and what it was sent to, as seen from the other side of the proxies in between.
 *
 * By default everybody is believed, so that the service works behind any proxy, and clients that reach it directly can
 * claim what they like. A list of proxies narrows that: the headers are read from the nearest proxy on, and as soon as an
 * entry names an address that is not on the list, that is the client, whatever stands further left.
 */
import { set as setHeader } from "effect/http/Headers"
import type { HttpServerRequest } from "effect/http/HttpServerRequest"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Address from "./Address.ts"
import type { ForwardedHeadersConfig } from "./ForwardedHeadersConfig.ts"
import * as HeaderLists from "./HeaderLists.ts"
import * as Peer from "./Peer.ts"

/** Both ends of a request. */
export interface Ends {
  /** In one spelling, without a port; absent where nobody knows it, as for a unix socket. */
  readonly clientAddress: string | undefined
  readonly scheme: "http" | "https"
  /** With the port where it is not the scheme's own. */
  readonly host: string | undefined
  /** Whether they are those of the connection itself. */
  readonly areAsSent: boolean
}

/** The rules of one configuration. */
export interface ForwardedHeaders {
  /** What the rules are, for the log. */
  readonly description: string
  /** Finds the ends of a request. It takes any header, and never throws. */
  readonly endsOf: (request: HttpServerRequest) => Ends
  /** The same of a request with these headers that a peer sent. */
  readonly endsFrom: (peer: Peer.Peer, headers: HeaderLists.Headers) => Ends
}

/** Compiles the configuration. */
export const make = (config: ForwardedHeadersConfig["Service"]): ForwardedHeaders => {
  const read = config.headers === "forwarded" ? HeaderLists.forwarded : HeaderLists.xForwarded
  const name = config.headers === "forwarded" ? "Forwarded" : "X-Forwarded-For"
  const proxies = config.trustedProxies
  if (proxies === undefined) {
    return withRules(
      `Everybody is trusted to name the client: the first entry of ${name} is (forwardedHeaders:trustedProxies narrows this)`,
      read,
      firstAddress
    )
  }
  const isTrusted = Address.isIn(proxies.map((text) => Result.getOrThrow(Address.readNetwork(text))))
  const sayOfTrusted = nearestUntrusted(isTrusted)
  return proxies.length === 0
    ? withRules("Nobody is trusted to name the client: forwardedHeaders:trustedProxies is empty", read, believeNone)
    : withRules(
        `Only unix sockets and ${proxies.join(", ")} are trusted to name the client, by ${name}`,
        read,
        sayOfTrusted
      )
}

const withRules = (description: string, read: Read, believe: Believe): ForwardedHeaders => ({
  description,
  endsOf: (request) => endsFrom(Peer.of(request), request.headers, read, believe),
  endsFrom: (peer, headers) => endsFrom(peer, headers, read, believe)
})

/** The request as its routes are to see it: with the ends that were found, and the nearest proxy as `peerAddress`. */
export const apply = (request: HttpServerRequest, ends: Ends): HttpServerRequest => {
  // To copy it would be for nothing.
  if (ends.areAsSent) return request
  return request.modify({
    remoteAddress: Option.fromUndefinedOr(ends.clientAddress),
    peerAddress: request.peerAddress,
    protocol: ends.scheme,
    ...(ends.host === undefined || ends.host === request.headers["host"]
      ? undefined
      : { headers: setHeader(request.headers, "host", ends.host) })
  })
}

/** What is believed: the address of the client, and how many entries from the right, where it is not all of them. */
interface Belief {
  readonly address: string | undefined
  readonly depth: number
}

type Believe = (peer: Peer.Peer, entries: ReadonlyArray<string>) => Belief

const believeNone: Believe = (peer) => ({ address: peer.address, depth: 0 })

const firstAddress: Believe = (peer, entries) => {
  for (const entry of entries) {
    const address = Address.read(entry)
    if (address !== undefined) return { address, depth: Infinity }
  }
  return { address: peer.address, depth: Infinity }
}

const nearestUntrusted =
  (isTrusted: (address: string) => boolean): Believe =>
  (peer, entries) => {
    if (peer.address === undefined ? !peer.isLocal : !isTrusted(peer.address)) return believeNone(peer, entries)
    // The peer itself may have set the scheme and the host, also where it names no client.
    let belief: Belief = { address: peer.address, depth: 1 }
    for (let depth = 1; depth <= entries.length; depth++) {
      const address = Address.read(entries[entries.length - depth]!)
      // Behind a client without an address there is nobody who could be believed.
      if (address === undefined) break
      belief = { address, depth }
      if (!isTrusted(address)) break
    }
    return belief
  }

type Read = (headers: HeaderLists.Headers) => HeaderLists.HeaderLists

const endsFrom = (peer: Peer.Peer, headers: HeaderLists.Headers, read: Read, believe: Believe): Ends => {
  const lists = read(headers)
  const { address, depth } = believe(peer, lists.for)
  const toldScheme = entryAt(lists.proto, depth)?.toLowerCase()
  const toldHost = entryAt(lists.host, depth)
  const sentHost = headers["host"]
  const scheme = toldScheme === "http" || toldScheme === "https" ? toldScheme : peer.scheme
  const host = toldHost !== undefined && isHost(toldHost) ? toldHost : sentHost
  return {
    clientAddress: address,
    scheme,
    host,
    areAsSent: host === sentHost && scheme === peer.scheme && address === peer.remoteAddress
  }
}

/** The entry that many from the right; the leftmost where there are not as many, since not every proxy adds one. */
const entryAt = (entries: ReadonlyArray<string>, depth: number): string | undefined =>
  depth === 0 ? undefined : entries[Math.max(0, entries.length - depth)]

const hostForm = /^(?:\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?$/i

const isHost = (text: string): boolean => hostForm.test(text) && URL.canParse(`http://${text}`)
