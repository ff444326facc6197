/**
 * The merged configuration: keys without regard to case, later assignments over earlier ones.
 */
import { type Assignment, fold, isText, maxDepth, type Source, split } from "./Assignment.ts"
import type { ConfigurationProblem } from "./ConfigurationError.ts"
import type { Content, Scalar } from "./DocumentNode.ts"

/** The configuration of a service, with everything that any source set. */
export interface ConfigurationTree {
  readonly root: ConfigurationNode
  /** What every source sets, in load order: also what later ones override. */
  readonly assignments: ReadonlyArray<Assignment>
  /** The files that were read, in load order. */
  readonly files: ReadonlyArray<string>
  /** The directories that were searched for files, and those that should have been. */
  readonly directories: ReadonlyArray<string>
  /** What could not be read. Decoding reports it together with all else that is wrong. */
  readonly problems: ReadonlyArray<ConfigurationProblem>
  readonly warnings: ReadonlyArray<ConfigurationProblem>
}

/**
 * One key. It may hold a value and children at once: `HOST=x` does not take `host:urls` away.
 */
export interface ConfigurationNode {
  /** The key's last part, as the first source spelled it. */
  readonly name: string
  /** The scalar that stands. */
  readonly scalar: Standing<Scalar> | undefined
  /** The section or list of a file that stands. */
  readonly container: Standing<Content> | undefined
  /** By their names in lower case. */
  readonly children: ReadonlyMap<string, ConfigurationNode>
}

/** A value with the source that has the last word on it. */
export interface Standing<Value extends Content> {
  readonly value: Value
  readonly source: Source
}

/**
 * Merges assignments in their order, key by key and only where somebody looks.
 *
 * Sections merge key by key. A list, and a scalar of a file, replaces what stood at its key before; a variable or an
 * argument sets its one value and leaves everything else. A section that a file leaves empty (`host:` with nothing below)
 * erases nothing, and an explicit null takes back a value.
 */
export const merge = (assignments: ReadonlyArray<Assignment>): ConfigurationNode => new MergedNode("", assignments, 0)

class MergedNode implements ConfigurationNode {
  readonly name: string
  readonly scalar: Standing<Scalar> | undefined
  readonly container: Standing<Content> | undefined
  readonly #depth: number
  /** What still has a say in the children. */
  readonly #assignments: ReadonlyArray<Assignment>
  #children: ReadonlyMap<string, ConfigurationNode> | undefined

  constructor(name: string, assignments: ReadonlyArray<Assignment>, depth: number) {
    let scalar: Standing<Scalar> | undefined
    let container: Standing<Content> | undefined
    let below: Array<Assignment> = []
    for (const assignment of assignments) {
      const { path, source, value } = assignment
      const isList = container?.value._tag === "List"
      if (path.length > 0) {
        if (!isText(source)) scalar = undefined
        below.push(assignment)
      } else if (value._tag === "Scalar") {
        if (!isText(source)) {
          if (value.parsed === null && !isList && below.some(setsChildren)) continue
          container = undefined
          below = []
        }
        scalar = { value, source }
      } else {
        if (isList || value._tag === "List") below = []
        scalar = undefined
        container = { value, source }
        below.push(assignment)
      }
    }
    this.name = name
    this.scalar = scalar
    this.container = container
    this.#depth = depth
    this.#assignments = below
  }

  get children(): ReadonlyMap<string, ConfigurationNode> {
    return (this.#children ??= this.#merge())
  }

  #merge(): ReadonlyMap<string, ConfigurationNode> {
    const groups = new Map<string, { readonly name: string; readonly assignments: Array<Assignment> }>()
    for (const each of this.#assignments) {
      for (const [name, assignment] of split(each)) {
        // What is deeper has been reported as a fault of its file.
        if (this.#depth + assignment.path.length >= maxDepth) continue
        const group = groups.get(fold(name))
        if (group === undefined) groups.set(fold(name), { name, assignments: [assignment] })
        else group.assignments.push(assignment)
      }
    }
    return new Map(
      groups.entries().map(([key, { assignments, name }]) => [key, new MergedNode(name, assignments, this.#depth + 1)])
    )
  }
}

const setsChildren = ({ path, value }: Assignment): boolean =>
  path.length > 0 ||
  (value._tag === "Section" ? value.entries.length > 0 : value._tag === "List" && value.items.length > 0)

/** Whether anything stands at a node or below it; null is nothing. */
export const isPresent = (node: ConfigurationNode): boolean =>
  hasValue(node) || node.container !== undefined || hasChildren(node)

/** Whether a scalar other than null stands at a node. */
export const hasValue = (node: ConfigurationNode): node is ConfigurationNode & { readonly scalar: Standing<Scalar> } =>
  node.scalar !== undefined && node.scalar.value.parsed !== null

/** Whether anything stands below a node. */
export const hasChildren = (node: ConfigurationNode): boolean => node.children.values().some(isPresent)

const index = /^(?:0|[1-9]\d*)$/

/** Whether a node's children are the elements of a list. */
export const isListLike = (node: ConfigurationNode): boolean =>
  node.container?.value._tag === "List" ||
  (node.container === undefined && hasChildren(node) && node.children.keys().every((name) => index.test(name)))

/** The elements of a list, in the order of their indexes; gaps close up, an element that is null stays. */
export const elements = (node: ConfigurationNode): ReadonlyArray<ConfigurationNode> =>
  [...node.children]
    .filter(([name, child]) => index.test(name) && (isPresent(child) || child.scalar !== undefined))
    .toSorted(([a], [b]) => Number(a) - Number(b))
    .map(([, child]) => child)

/** The node at a key such as `host:urls`, in any case; undefined where nothing stands. */
export const find = (root: ConfigurationNode, key: string): ConfigurationNode | undefined => {
  const node = nodeAt(root, key.split(":"))
  return node !== undefined && isPresent(node) ? node : undefined
}

/** The node at a path, also one where nothing stands any more. */
export const nodeAt = (root: ConfigurationNode, path: ReadonlyArray<string>): ConfigurationNode | undefined => {
  let node: ConfigurationNode | undefined = root
  for (const name of path) node = node?.children.get(fold(name))
  return node
}

/** The text at a key, where a scalar stands there. */
export const findText = (root: ConfigurationNode, key: string): string | undefined => {
  const node = find(root, key)
  return node !== undefined && hasValue(node) ? node.scalar.value.text : undefined
}

/** Everything among assignments that set a key, or something below it, in load order: the last that counts for a key wins. */
export const history = (assignments: ReadonlyArray<Assignment>, key: string): ReadonlyArray<Assignment> => {
  const parts = key.split(":").map(fold)
  const found: Array<Assignment> = []
  const visit = (assignment: Assignment, path: ReadonlyArray<string>): void => {
    if (path.length > maxDepth) return
    if (assignment.path.length === 0 && path.length >= parts.length) found.push({ ...assignment, path })
    for (const [name, below] of split(assignment, parts[path.length])) visit(below, [...path, name])
  }
  for (const assignment of assignments) visit(assignment, [])
  return found
}
