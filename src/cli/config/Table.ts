/** Tables of plain text. */
import * as nodePath from "node:path"

/** A longer cell moves only what follows in its own line. */
const maxWidth = 60

/** Rows in aligned columns, each line without white space at its end. */
export const format = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.min(maxWidth, Math.max(...rows.map((row) => row[column]!.length)))
  )
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd()
    )
    .join("\n")
}

/** A value as a cell: what could be mistaken, or would break the line, is quoted. */
export const cell = (value: string): string => (/^\s|\s$|^$|^["(]|\p{Cc}/u.test(value) ? JSON.stringify(value) : value)

/** A source as a cell: paths below the working directory are relative. */
export const source = (text: string): string => {
  const here = nodePath.resolve("") + nodePath.sep
  return text.startsWith(here) ? text.slice(here.length) : text
}
