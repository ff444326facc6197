/**
 * The error mappings of all plugins as one.
 */
import type * as ErrorMapping from "../../Plugins/ErrorMapping.ts"
import type * as Plugin from "../../Plugins/Plugin.ts"
import type { StartProblem } from "../HostStartError.ts"
import type { Problem } from "../Http/Problem.ts"

/** The mappings of a service, and what is wrong with them. */
export interface PluginErrors {
  readonly problems: ReadonlyArray<StartProblem>
  /** The problem that a plugin has for an error; absent where none has. */
  readonly problemOf: (error: unknown) => Problem | undefined
}

/** Gathers the mappings of plugins. */
export const gather = (plugins: ReadonlyArray<Plugin.Any>): PluginErrors => {
  const problems: Array<StartProblem> = []
  const mappings = new Map<unknown, { readonly plugin: string; readonly mapping: ErrorMapping.ErrorMapping }>()
  for (const { errors, id: plugin } of plugins) {
    for (const mapping of errors) {
      const taken = mappings.get(mapping.error)
      const fault =
        taken === undefined ? faultOf(mapping) : `is already mapped by plugin "${taken.plugin}"; map it once`
      if (fault !== undefined) problems.push({ plugin, phase: "errors", message: `${mapping.error.name} ${fault}` })
      if (taken === undefined) mappings.set(mapping.error, { plugin, mapping })
    }
  }
  return {
    problems,
    problemOf: (error) => {
      for (const type of classesOf(error)) {
        const found = mappings.get(type)
        if (found !== undefined) return toProblem(found.mapping.answer, error)
      }
      return undefined
    }
  }
}

const faultOf = ({ answer: { status }, error }: ErrorMapping.ErrorMapping): string | undefined => {
  if (Reflect.get(globalThis, error.name) === error) {
    return "is a class of the platform, which tells of mistakes; map a class of your own"
  }
  return Number.isInteger(status) && status >= 400 && status <= 599
    ? undefined
    : `has the status ${status}; expected one from 400 to 599`
}

/** The class of a value, and those above it. */
function* classesOf(value: unknown): Generator<unknown> {
  if (typeof value !== "object" || value === null) return
  for (let prototype = Object.getPrototypeOf(value); prototype !== null; prototype = Object.getPrototypeOf(prototype)) {
    yield prototype.constructor
  }
}

const toProblem = (answer: ErrorMapping.Answer<unknown>, error: unknown): Problem => ({
  status: answer.status,
  type: answer.type,
  title: answer.title,
  detail: answer.detail?.(error),
  members: answer.members?.(error),
  headers: answer.headers?.(error)
})
