/**
 * The components of a merged OpenAPI document: equal ones are shared, and clashing ones get names of their own.
 */
import { isDeepStrictEqual } from "node:util"
import { asJsonObject, type ComponentKey, type JsonObject, mapReferences, referencesIn } from "./References.ts"

/** Collects the components of several documents. */
export class Components {
  readonly #merged: Map<ComponentKey, unknown>

  constructor(initial: JsonObject) {
    this.#merged = flatten(initial)
  }

  /**
   * Adds the components of one document and returns the rewriting that the rest of that document needs.
   *
   * A component whose name is taken by one with another content is renamed to `<prefix>_<name>`.
   */
  add(prefix: string, components: JsonObject): <A>(value: A) => A {
    const own = flatten(components)
    const renamed = new Map<ComponentKey, ComponentKey>()
    const taken = new Set([...this.#merged.keys(), ...own.keys()])
    for (const key of this.#clashes(own)) {
      const [kind, name] = key.split("/")
      const free = firstFree<ComponentKey>(`${kind}/${prefix}_${name}`, taken)
      taken.add(free)
      renamed.set(key, free)
    }
    const rewrite = <A>(value: A): A => mapReferences(value, (key) => renamed.get(key) ?? key) as A
    for (const [key, component] of own) {
      const target = renamed.get(key) ?? key
      if (!this.#merged.has(target)) this.#merged.set(target, rewrite(component))
    }
    return rewrite
  }

  /** All components, by kind and name. */
  toJSON(): JsonObject {
    const kinds = Map.groupBy(this.#merged, ([key]) => key.slice(0, key.indexOf("/")))
    return Object.fromEntries(
      Array.from(kinds, ([kind, members]) => [
        kind,
        Object.fromEntries(members.map(([key, component]) => [key.slice(kind.length + 1), component]))
      ])
    )
  }

  /** The components that cannot share their name: other content, or a reference to one of other content. */
  #clashes(own: ReadonlyMap<ComponentKey, unknown>): ReadonlySet<ComponentKey> {
    const taken = Array.from(own).filter(([key]) => this.#merged.has(key))
    const clashes = new Set(
      taken.filter(([key, component]) => !isDeepStrictEqual(component, this.#merged.get(key))).map(([key]) => key)
    )
    let before: number
    do {
      before = clashes.size
      for (const [key, component] of taken) {
        if (!clashes.isDisjointFrom(referencesIn(component))) clashes.add(key)
      }
    } while (clashes.size > before)
    return clashes
  }
}

/** The name itself, or with the first number that makes it free: `name_2`, `name_3`. */
export const firstFree = <Name extends string>(name: Name, taken: ReadonlySet<Name>): Name => {
  let free = name
  for (let n = 2; taken.has(free); n++) free = `${name}_${n}` as Name
  return free
}

const flatten = (components: JsonObject): Map<ComponentKey, unknown> =>
  new Map(
    Object.entries(components).flatMap(([kind, members]) =>
      Object.entries(asJsonObject(members)).map(([name, component]): [ComponentKey, unknown] => [
        `${kind}/${name}`,
        component
      ])
    )
  )
