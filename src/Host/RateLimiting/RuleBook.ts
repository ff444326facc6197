/**
 * All rules of the configuration, compiled at start: which of them apply to a request.
 */
import * as Result from "effect/Result"
import * as AddressRange from "./AddressRange.ts"
import * as Endpoint from "./Endpoint.ts"
import type { RateLimitConfig, RateLimitPolicies } from "./RateLimitConfig.ts"
import * as Rule from "./Rule.ts"

/** Which rules apply to whom. */
export interface RuleBook {
  /** Whether there is any rule at all. */
  readonly isEmpty: boolean
  /** Whether the position of the client matters for its rules. */
  readonly hasPolicies: boolean
  /** Whether the endpoint of a request matters for its rules. */
  readonly hasEndpoints: boolean
  /**
   * The rules that apply to a request, one for each period, the shortest period first: of a policy for the client before
   * a general one, and the lowest limit of several.
   */
  readonly rulesOf: (
    position: AddressRange.Position | undefined,
    verb: string,
    path: string
  ) => ReadonlyArray<Rule.Rule>
  /** Rules that never apply, in words. */
  readonly warnings: ReadonlyArray<string>
}

interface EndpointRule extends Rule.Rule {
  readonly pattern: Endpoint.EndpointPattern
}

interface RuleSet {
  /** For each period, the shortest first, the rules in the order in which they are tried. */
  readonly byPeriod: ReadonlyArray<ReadonlyArray<EndpointRule>>
  /** The rules of every request, where the first of each period is for all endpoints. */
  readonly always: ReadonlyArray<Rule.Rule> | undefined
}

type RuleConfig = (typeof RateLimitConfig)["Service"]["generalRules"][number]

/** Compiles the rules of both sections. */
export const make = (
  config: (typeof RateLimitConfig)["Service"],
  policies: (typeof RateLimitPolicies)["Service"]
): RuleBook => {
  const counts = (rule: RuleConfig) => config.enableEndpointRateLimiting || rule.endpoint === "*"
  const compileAll = (rules: ReadonlyArray<RuleConfig>) => rules.filter(counts).map(compile)
  const general = compileAll(config.generalRules)
  const compiled = policies.ipRules.map(({ ip, rules }) => ({
    range: Result.getOrThrow(AddressRange.parse(ip)),
    rules: compileAll(rules)
  }))
  const generalSet = ruleSet([], general)

  // Ranges divide the addresses into stretches whose clients have the same policies: there are few such sets of policies,
  // however many clients there are.
  const sets = new Map<string, RuleSet>()
  const setOf = (position: AddressRange.Position | undefined): RuleSet => {
    if (position === undefined || compiled.length === 0) return generalSet
    const own = compiled.filter(({ range }) => AddressRange.contains(range, position))
    if (own.length === 0) return generalSet
    const key = own.map((policy) => compiled.indexOf(policy)).join()
    let set = sets.get(key)
    if (set === undefined) {
      set = ruleSet(
        own.flatMap(({ rules }) => rules),
        general
      )
      sets.set(key, set)
    }
    return set
  }

  return {
    isEmpty: general.length === 0 && compiled.every(({ rules }) => rules.length === 0),
    hasPolicies: compiled.length > 0,
    hasEndpoints: compiled.length > 0 || generalSet.always === undefined,
    rulesOf: (position, verb, path) => select(setOf(position), verb, path),
    warnings: [
      ...ignored("ipRateLimiting:generalRules", config.generalRules, counts),
      ...policies.ipRules.flatMap(({ rules }, i) => ignored(`ipRateLimitPolicies:ipRules:${i}:rules`, rules, counts))
    ]
  }
}

const compile = ({ endpoint, limit, period }: RuleConfig): EndpointRule => ({
  pattern: Result.getOrThrow(Endpoint.parsePattern(endpoint)),
  period,
  periodMillis: Result.getOrThrow(Rule.parsePeriod(period)),
  limit
})

const ruleSet = (own: ReadonlyArray<EndpointRule>, general: ReadonlyArray<EndpointRule>): RuleSet => {
  const byLimit = (rules: ReadonlyArray<EndpointRule>) => rules.toSorted((a, b) => a.limit - b.limit)
  const byPeriod = Map.groupBy([...byLimit(own), ...byLimit(general)], ({ periodMillis }) => periodMillis)
  const sorted = [...byPeriod].toSorted(([a], [b]) => a - b).map(([, rules]) => rules)
  const first = sorted.map(([rule]) => rule!)
  const areForAll = first.every(({ pattern }) => pattern.verb === undefined && pattern.path === undefined)
  return { byPeriod: sorted, always: areForAll ? first : undefined }
}

const select = ({ always, byPeriod }: RuleSet, verb: string, path: string): ReadonlyArray<Rule.Rule> => {
  if (always !== undefined) return always
  const selected: Array<Rule.Rule> = []
  for (const rules of byPeriod) {
    const rule = rules.find(({ pattern }) => Endpoint.matches(pattern, verb, path))
    if (rule !== undefined) selected.push(rule)
  }
  return selected
}

const ignored = (key: string, rules: ReadonlyArray<RuleConfig>, counts: (rule: RuleConfig) => boolean) =>
  rules.flatMap((rule, i) =>
    counts(rule)
      ? []
      : [
          `${key}:${i} has no effect: rules for an endpoint such as ${rule.endpoint} count only with ipRateLimiting:enableEndpointRateLimiting`
        ]
  )
