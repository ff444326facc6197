/**
 * The addresses that `host:urls` names, and what each means to a socket.
 */
import * as Result from "effect/Result"
import { isIP } from "node:net"

/** Where one listener listens; a TCP address without a host means all interfaces. */
export type ListenAddress =
  | { readonly _tag: "Tcp"; readonly host: string | undefined; readonly port: number }
  | { readonly _tag: "Unix"; readonly path: string }

/** One of the URLs, with every address that it stands for. */
export interface ListenUrl {
  readonly url: string
  /** Whether the listener speaks TLS. */
  readonly isSecure: boolean
  readonly addresses: ReadonlyArray<ListenAddress>
}

/** Reads a comma-separated list of URLs; the failure lists what is wrong with each. */
export const parseList = (urls: string): Result.Result<ReadonlyArray<ListenUrl>, ReadonlyArray<string>> => {
  const texts = urls
    .split(",")
    .map((url) => url.trim())
    .filter((url) => url !== "")
  if (texts.length === 0) return Result.fail(["host:urls names no URL"])
  const results = texts.map(parse)
  const failures = results.flatMap((result) => (Result.isFailure(result) ? [result.failure] : []))
  return failures.length > 0
    ? Result.fail(failures)
    : Result.succeed(results.flatMap((result) => (Result.isSuccess(result) ? [result.success] : [])))
}

const form = /^(https?):\/\/(unix:[^?#]+|\[[^\]]+\]|[^:/?#[\]]*)(?::(\d+))?(\/?)([^]*)$/i

/**
 * Reads one URL. `+`, `*` and names that are no address stand for all interfaces, `localhost` for both loopbacks,
 * `http://unix:/abs/path.sock` for a socket; port 0 picks a free one.
 */
export const parse = (url: string): Result.Result<ListenUrl, string> => {
  if (/^\w+:\/\/[^/?#]*@/.test(url)) return Result.fail("a URL to listen on has neither user name nor password")
  const match = form.exec(url)
  if (match === null) return Result.fail(`${url} is not a URL of the form http://host:port`)
  const [, scheme, authority, portText, , rest] = match
  const isSecure = scheme!.toLowerCase() === "https"
  if (/^unix:/i.test(authority!)) {
    const path = authority!.slice("unix:".length)
    return path.startsWith("/") && rest === "" && !isSecure
      ? Result.succeed({ url, isSecure, addresses: [{ _tag: "Unix", path }] })
      : Result.fail(`${url} is not of the form http://unix:/path/to.sock`)
  }
  if (rest !== "") return Result.fail(`${url} has a path; a listener takes all paths`)
  if (authority === "") return Result.fail(`${url} has no host; use + for all interfaces`)
  if (authority!.startsWith("[") && isIP(authority!.slice(1, -1)) !== 6) {
    return Result.fail(`${url}: an IPv6 address is expected between [ and ]`)
  }
  const port = portText === undefined ? (isSecure ? 443 : 80) : Number(portText)
  if (port > 65535) return Result.fail(`${url}: a port is a number from 0 to 65535`)
  return Result.succeed({ url, isSecure, addresses: hostsOf(authority!).map((host) => ({ _tag: "Tcp", host, port })) })
}

const hostsOf = (authority: string): ReadonlyArray<string | undefined> => {
  if (authority.toLowerCase() === "localhost") return ["127.0.0.1", "::1"]
  const host = authority.startsWith("[") ? authority.slice(1, -1) : authority
  return [isIP(host) === 0 ? undefined : host]
}
