/**
 * The configuration for Effect's own `Config`: `Config.string("mail:server")` reads the merged tree.
 */
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import { fold } from "./Assignment.ts"
import {
  type ConfigurationNode,
  type ConfigurationTree,
  elements,
  hasValue,
  isListLike,
  isPresent
} from "./ConfigurationTree.ts"
import * as Environment from "./Environment.ts"

/**
 * A provider over the tree, without regard to case. A name may be a path (`mail:server`), and a name that is not there is
 * also looked for as a variable's would be, so that `Config.string("DATABASE_URL")` finds `database:url`.
 */
export const make = (tree: ConfigurationTree): ConfigProvider.ConfigProvider =>
  ConfigProvider.make((path) => {
    const node = locate(tree.root, path)
    return Effect.succeed(node === undefined ? undefined : toProviderNode(node))
  })

/** Makes the tree the source of every `Config`. */
export const layer = (tree: ConfigurationTree): Layer.Layer<never> => ConfigProvider.layer(make(tree))

const locate = (node: ConfigurationNode, path: ConfigProvider.Path): ConfigurationNode | undefined => {
  const [segment, ...rest] = path
  if (segment === undefined) return isPresent(node) ? node : undefined
  const element = isListLike(node) ? elements(node)[Number(segment)] : undefined
  if (element !== undefined || typeof segment === "number") return element && locate(element, rest)
  const child = node.children.get(fold(segment))
  const exact = child && locate(child, rest)
  if (exact !== undefined) return exact
  const parts = segment.includes(":") ? segment.split(":") : Environment.toPath(segment)
  return parts.length > 1 ? locate(node, [...parts, ...rest]) : undefined
}

const toProviderNode = (node: ConfigurationNode): ConfigProvider.Node => {
  const value = hasValue(node) ? node.scalar.value.text : undefined
  if (isListLike(node)) return ConfigProvider.makeArray(elements(node).length, value)
  const children = node.children.values().filter(isPresent)
  const keys = new Set(children.map((child) => child.name))
  return keys.size === 0 && value !== undefined && node.container === undefined
    ? ConfigProvider.makeValue(value)
    : ConfigProvider.makeRecord(keys, value)
}
