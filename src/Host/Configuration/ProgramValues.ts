/**
 * Values that a program gives as an object, read as a file's would be.
 */
import { type Assignment, maxDepth } from "./Assignment.ts"
import type { DocumentNode, Scalar } from "./DocumentNode.ts"

/** What an object sets. Undefined sets nothing; a function, a symbol or a class instance cannot be configuration. */
export const fromObject = (values: Readonly<Record<string, unknown>>): Assignment => ({
  path: [],
  value: read(values, []),
  source: { _tag: "Program", name: "values of the program" }
})

/** Values of a program stand in no text. */
const nowhere = { line: 0, column: 0 }

const read = (value: unknown, path: ReadonlyArray<string>): DocumentNode => {
  if (path.length > maxDepth)
    throw new TypeError(`${path.slice(0, 3).join(":")}… is nested deeper than ${maxDepth} levels`)
  if (Array.isArray(value)) {
    return { ...nowhere, _tag: "List", items: value.map((item, index) => read(item, [...path, String(index)])) }
  }
  if (!isPlainObject(value)) return { ...nowhere, ...scalar(value, path) }
  const entries = Object.entries(value)
    .filter(([, child]) => child !== undefined)
    .map(([key, child]) => ({ ...nowhere, key, value: read(child, [...path, ...key.split(":")]) }))
  return { ...nowhere, _tag: "Section", entries }
}

const scalar = (value: unknown, path: ReadonlyArray<string>): Scalar => {
  if (value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
    return { _tag: "Scalar", text: String(value), parsed: value }
  }
  if (typeof value === "bigint") return { _tag: "Scalar", text: String(value), parsed: String(value) }
  throw new TypeError(
    `${path.join(":")} cannot be set to a ${typeof value === "object" ? "class instance" : typeof value}`
  )
}

const isPlainObject = (value: unknown): value is object => {
  if (typeof value !== "object" || value === null) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
