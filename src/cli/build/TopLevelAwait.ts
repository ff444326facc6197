/** Whether a module waits while it is loaded. */
import { parseSync, Visitor } from "oxc-parser"

/** Whether JavaScript has `await` outside of all functions. */
export const isIn = (code: string): boolean => {
  if (!mayWait.test(code)) return false
  let depth = 0
  let found = false
  const enter = () => void depth++
  const leave = () => void depth--
  const wait = () => void (found ||= depth === 0)
  new Visitor({
    FunctionDeclaration: enter,
    "FunctionDeclaration:exit": leave,
    FunctionExpression: enter,
    "FunctionExpression:exit": leave,
    ArrowFunctionExpression: enter,
    "ArrowFunctionExpression:exit": leave,
    AwaitExpression: wait,
    ForOfStatement: (node) => node.await && wait(),
    VariableDeclaration: (node) => node.kind === "await using" && wait()
  }).visit(parseSync("module.js", code).program)
  return found
}

/** Not the name of a member or a key. */
const mayWait = /(?<![.\w$])await(?![\w$]|\s*[:(]?\s*[,}])/
