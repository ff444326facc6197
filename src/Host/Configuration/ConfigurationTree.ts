/**
 * The merged configuration: keys without regard to case, later assignments over earlier ones.
 */
import { type Assignment, fold, isText } from "./Assignment.ts"
import type { ConfigurationProblem } from "./ConfigurationError.ts"

/** The configuration of a service, with everything that any source set. */
export interface ConfigurationTree {
  readonly root: ConfigurationNode
  /** Every assignment of every source, in load order: also those that later ones override. */
  readonly assignments: ReadonlyArray<Assignment>
  /** The files that were read, in load order. */
  readonly files: ReadonlyArray<string>
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
  readonly scalar: ScalarAssignment | undefined
  /** The section or list of a file that stands. */
  readonly container: Assignment | undefined
  /** By their names in lower case. */
  readonly children: ReadonlyMap<string, ConfigurationNode>
}

/** An assignment of a single value. */
export type ScalarAssignment = Assignment & {
  readonly value: Extract<Assignment["value"], { readonly _tag: "Scalar" }>
}

interface MutableNode extends ConfigurationNode {
  scalar: ScalarAssignment | undefined
  container: Assignment | undefined
  readonly children: Map<string, MutableNode>
}

/**
 * Merges assignments in their order.
 *
 * Sections merge key by key. A list, and a scalar of a file, replaces what stood at its key before; a variable or an
 * argument sets its one value and leaves everything else. A section that a file leaves empty (`host:` with nothing below)
 * erases nothing, and an explicit null takes back a value.
 */
export const merge = (assignments: Iterable<Assignment>): ConfigurationNode => {
  const root = makeNode("")
  for (const assignment of assignments) assign(root, assignment)
  return root
}

const makeNode = (name: string): MutableNode => ({ name, scalar: undefined, container: undefined, children: new Map() })

const assign = (root: MutableNode, assignment: Assignment): void => {
  let node = root
  for (const name of assignment.path) {
    if (!isText(assignment.source)) node.scalar = undefined
    let child = node.children.get(fold(name))
    if (child === undefined) {
      child = makeNode(name)
      node.children.set(fold(name), child)
    }
    node = child
  }
  if (isScalar(assignment)) {
    if (!isText(assignment.source)) {
      const isList = node.container?.value._tag === "List"
      if (assignment.value.parsed === null && node.children.size > 0 && !isList) return
      node.container = undefined
      node.children.clear()
    }
    node.scalar = assignment
    return
  }
  if (assignment.value._tag === "List" || node.container?.value._tag === "List") node.children.clear()
  node.scalar = undefined
  node.container = assignment
}

const isScalar = (assignment: Assignment): assignment is ScalarAssignment => assignment.value._tag === "Scalar"

/** Whether anything stands at a node or below it; null is nothing. */
export const isPresent = (node: ConfigurationNode): boolean =>
  hasValue(node) || node.container !== undefined || hasChildren(node)

/** Whether a scalar other than null stands at a node. */
export const hasValue = (node: ConfigurationNode): node is ConfigurationNode & { readonly scalar: ScalarAssignment } =>
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
  let node: ConfigurationNode | undefined = root
  for (const name of key.split(":")) node = node?.children.get(fold(name))
  return node !== undefined && isPresent(node) ? node : undefined
}

/** The text at a key, where a scalar stands there. */
export const findText = (root: ConfigurationNode, key: string): string | undefined => {
  const node = find(root, key)
  return node !== undefined && hasValue(node) ? node.scalar.value.text : undefined
}

/** Everything that set a key, or something below it, in load order: the last that counts for a key wins. */
export const history = (tree: ConfigurationTree, key: string): ReadonlyArray<Assignment> => {
  const wanted = fold(key)
  return tree.assignments.filter(({ path }) => {
    const each = fold(path.join(":"))
    return each === wanted || each.startsWith(`${wanted}:`)
  })
}
