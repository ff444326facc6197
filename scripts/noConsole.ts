/** What src has to say goes through the logger (or, in the command, through Effect's Console), never through `console`. */
import { Visitor } from "oxc-parser"
import { run, type Rule, type Violation } from "./sourceRule.ts"

export const noConsole: Rule = ({ ast, lineAt }) => {
  const violations: Array<Violation> = []
  new Visitor({
    MemberExpression: ({ object, start }) => {
      if (object.type === "Identifier" && object.name === "console") {
        violations.push({ line: lineAt(start), message: "console in src: use the logger" })
      }
    }
  }).visit(ast.program)
  return violations
}

if (import.meta.main) run(["src/**/*.ts"], noConsole)
