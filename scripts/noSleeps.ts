/**
 * Tests do not wait for time to pass: they move the TestClock, or wait for what they are after. A sleep that has to be is
 * marked on its line: `// allowed: why`.
 */
import { Visitor, type Expression } from "oxc-parser"
import { run, type Rule, type Violation } from "./sourceRule.ts"

const sleeps = new Set(["sleep", "setTimeout", "Effect.sleep", "globalThis.setTimeout", "scheduler.wait"])

export const noSleeps: Rule = ({ text, ast, lineAt }) => {
  const lines = text.split("\n")
  const violations: Array<Violation> = []
  new Visitor({
    CallExpression: ({ callee, start }) => {
      const line = lineAt(start)
      const name = nameOf(callee)
      if (name !== undefined && sleeps.has(name) && !/\/\/ allowed: \S/.test(lines[line - 1]!)) {
        violations.push({ line, message: `${name} in a test: wait for the event itself, or add \`// allowed: why\`` })
      }
    }
  }).visit(ast.program)
  return violations
}

/** `f` or `a.f`. */
const nameOf = (callee: Expression): string | undefined => {
  if (callee.type === "Identifier") return callee.name
  if (callee.type !== "MemberExpression" || callee.computed || callee.object.type !== "Identifier") return undefined
  return `${callee.object.name}.${callee.property.name}`
}

if (import.meta.main) run(["test/**/*.ts", "examples/*/test/**/*.ts"], noSleeps)
