/** The spans of one request as a small tree, for a developer at a terminal who has no collector. */
import * as Cause from "effect/Cause"
import * as Option from "effect/Option"
import { escapeControls } from "../Logging/Escape.ts"
import type { Span } from "./Span.ts"

/** Spans of one request beyond this many are left out. */
export const maxSpans = 100

/**
 * Makes what takes every span that ended, and writes the tree of each request when its span ends. What ends later, because
 * the request did not wait for it, is not in the tree.
 *
 * ```
 * GET /items/{id} 200 12.4 ms
 * ├─ ItemStore.find 11.8 ms
 * │  └─ SecretStorage.get 9.1 ms
 * └─ GET 404 0.4 ms ✗
 * ```
 */
export const make = (options: {
  readonly write: (text: string) => void
  readonly colors: boolean
}): ((span: Span) => void) => {
  const dim = (text: string) => (options.colors ? `\u001b[90m${text}\u001b[0m` : text)
  const red = (text: string) => (options.colors ? `\u001b[31m${text}\u001b[0m` : text)
  /** The spans that ended, by the span that their trace began with here. */
  const ended = new WeakMap<Span, Array<Span>>()

  const line = (span: Span): string => {
    const status = span.attributes.get("http.response.status_code")
    const text = `${escapeControls(span.name)}${typeof status === "number" ? ` ${status}` : ""}`
    return `${text} ${dim(durationOf(span))}${hasFailed(span) ? ` ${red("✗")}` : ""}\n`
  }

  const branches = (parent: Span, all: ReadonlyArray<Span>, indent: string): string => {
    const children = all.filter((span) => Option.getOrUndefined(span.parent) === parent).toSorted(byStart)
    return children
      .map((child, index) => {
        const isLast = index === children.length - 1
        return (
          dim(`${indent}${isLast ? "└─" : "├─"} `) +
          line(child) +
          branches(child, all, `${indent}${isLast ? "   " : "│  "}`)
        )
      })
      .join("")
  }

  return (span) => {
    const root = span.localRoot
    if (root.kind !== "server") return
    if (span !== root) {
      const spans = ended.get(root) ?? []
      if (spans.length < maxSpans) spans.push(span)
      ended.set(root, spans)
      return
    }
    options.write(line(root) + branches(root, ended.get(root) ?? [], ""))
    ended.delete(root)
  }
}

const byStart = (a: Span, b: Span): number => (a.status.startTime < b.status.startTime ? -1 : 1)

const durationOf = ({ status }: Span): string =>
  status._tag === "Ended" ? `${(Number(status.endTime - status.startTime) / 1e6).toFixed(1)} ms` : ""

const hasFailed = ({ status }: Span): boolean =>
  status._tag === "Ended" && status.exit._tag === "Failure" && !Cause.hasInterruptsOnly(status.exit.cause)
