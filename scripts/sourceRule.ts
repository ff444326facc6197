/** A rule of this repository that a script checks: what a source file may not hold, and how that is told. */
import { globSync, readFileSync } from "node:fs"
import { parseSync, type ParseResult } from "oxc-parser"

/** Something in a file that a rule forbids. */
export interface Violation {
  /** Counted from 1. */
  readonly line: number
  readonly message: string
}

/** A parsed file; the path is relative to the repository, with `/`. */
export interface Source {
  readonly file: string
  readonly text: string
  readonly ast: ParseResult
  readonly lineAt: (offset: number) => number
}

/** Finds what is forbidden in one file. */
export type Rule = (source: Source) => ReadonlyArray<Violation>

/** Parses the text of a file. */
export const parse = (file: string, text: string): Source => ({
  file,
  text,
  ast: parseSync(file, text, { sourceType: "module" }),
  lineAt: (offset) => text.slice(0, offset).split("\n").length
})

/** Holds a rule against every file that matches, prints what it finds, and sets the exit code. */
export const run = (patterns: ReadonlyArray<string>, rule: Rule): void => {
  const files = globSync(patterns, { exclude: ["**/node_modules/**"] }).map((file) => file.replaceAll("\\", "/"))
  for (const file of files.toSorted()) {
    for (const { line, message } of rule(parse(file, readFileSync(file, "utf8")))) {
      process.stdout.write(`${file}:${line}: ${message}\n`)
      process.exitCode = 1
    }
  }
}
