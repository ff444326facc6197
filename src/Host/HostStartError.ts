/** Why a host does not start: every problem of every plugin, by name and phase. */
import * as Cause from "effect/Cause"
import * as Schema from "effect/Schema"
import * as LogError from "./Logging/LogError.ts"
import * as LogValue from "./Logging/LogValue.ts"

/** The phases of building a host, in order. */
export const Phase = Schema.Literals(["plugins", "services", "healthChecks", "middleware", "errors", "routes"])
export type Phase = typeof Phase.Type

/** The phases in words. */
export const phaseNames: Readonly<Record<Phase, string>> = {
  plugins: "plugin list",
  services: "services",
  healthChecks: "health checks",
  middleware: "middleware",
  errors: "errors",
  routes: "routes"
}

/** One problem: whose, in which phase, and what. */
export const StartProblem = Schema.Struct({
  plugin: Schema.String,
  phase: Phase,
  message: Schema.String
})
export type StartProblem = typeof StartProblem.Type

/** Puts problems in the order of the phases; those of one phase stay as they are. */
export const inOrder = (problems: ReadonlyArray<StartProblem>): ReadonlyArray<StartProblem> =>
  Phase.literals.flatMap((phase) => problems.filter((problem) => problem.phase === phase))

/** The host was not started; nothing listens, and what was built has been released. */
export class HostStartError extends Schema.TaggedError<HostStartError>()("HostStartError", {
  problems: Schema.Array(StartProblem)
}) {
  override get message(): string {
    const count = this.problems.length === 1 ? "1 problem" : `${this.problems.length} problems`
    const lines = this.problems.map(
      ({ plugin, phase, message }) =>
        `  - plugin "${plugin}", ${phaseNames[phase]}: ${message.replaceAll("\n", "\n    ")}`
    )
    return [`The host cannot start: ${count}.`, ...lines].join("\n")
  }
}

/** A failure in words: an expected error and what caused it, and the stack of a defect, since that is a bug to find. */
export const describe = (cause: Cause.Cause<unknown>): string => cause.reasons.map(describeReason).join("\n")

const describeReason = (reason: Cause.Reason<unknown>): string => {
  if (reason._tag === "Interrupt") return "was interrupted, by nobody but itself"
  const value = reason._tag === "Fail" ? reason.error : reason.defect
  const { message, stackTrace } = LogError.make(Cause.fromReasons([reason]), [], LogValue.budget())!
  if (!LogValue.isError(value)) return message
  return reason._tag === "Die" ? stackTrace : stackTrace.split("\n").filter(isNoFrame).join("\n")
}

const isNoFrame = (line: string): boolean => !/^\s+at /.test(line)
