/** Pieces of Markdown. */

/** A table; cells are escaped where they would break it. */
export const table = (head: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string>>): string =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.map(cell).join(" | ")} |`).join("\n")

const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ").trim()

export const code = (text: string): string => `\`${text}\``

/** The first sentence of a documentation comment, without what only marks it up. */
export const firstSentence = (comment: string): string => {
  const text = comment
    .replace(/^\s*\*+ ?/gm, "")
    .replace(/\{@link ([^}]+)\}/g, "`$1`")
    .trim()
    .split(/\n\s*\n/)[0]!
    .replaceAll("\n", " ")
  return /^.*?[.!?](?=\s|$)/.exec(text)?.[0] ?? text
}
