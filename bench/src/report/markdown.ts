/** Pieces of Markdown. */
import type { Spread } from "../statistics.ts"

export const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n")

/** A median with its range. */
export const withRange = ({ median, min, max }: Spread, digits = 2): string =>
  `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`

/** Puts a text between a page's two marks. */
export const replaceMarked = (page: string, name: string, text: string): string => {
  const [begin, end] = [`<!-- ${name}: written by npm run bench -->`, `<!-- ${name}: end -->`]
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from < 0 || to < from) throw new Error(`the marks of ${name} are missing`)
  return `${page.slice(0, from + begin.length)}\n${text}\n${page.slice(to)}`
}
