/**
 * Values that a program gives as an object, read as a file's would be.
 */
import { type Assignment, maxDepth, type Source, type Value } from "./Assignment.ts"

const source: Source = { _tag: "Program", name: "values of the program" }

/** What an object sets. Undefined sets nothing; a function, a symbol or a class instance cannot be configuration. */
export const fromObject = (values: Readonly<Record<string, unknown>>): ReadonlyArray<Assignment> => {
  const assignments: Array<Assignment> = []
  const visit = (value: unknown, path: ReadonlyArray<string>): void => {
    if (value === undefined) return
    if (path.length > maxDepth)
      throw new TypeError(`${path.slice(0, 3).join(":")}… is nested deeper than ${maxDepth} levels`)
    if (Array.isArray(value)) {
      assignments.push({ path, value: { _tag: "List" }, source })
      value.forEach((item, index) => visit(item, [...path, String(index)]))
    } else if (isPlainObject(value)) {
      if (path.length > 0) assignments.push({ path, value: { _tag: "Section" }, source })
      for (const [key, child] of Object.entries(value)) visit(child, [...path, ...key.split(":")])
    } else assignments.push({ path, value: scalar(value, path), source })
  }
  visit(values, [])
  return assignments
}

const scalar = (value: unknown, path: ReadonlyArray<string>): Value => {
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
