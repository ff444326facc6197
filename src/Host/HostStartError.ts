/** Why a host does not start: every problem of every plugin, by name and phase. */
import * as Cause from "effect/Cause"
import * as Schema from "effect/Schema"

/** The phases of building a host, in order. */
export const Phase = Schema.Literals(["plugins", "services", "middleware", "routes", "healthChecks"])
export type Phase = typeof Phase.Type

/** One problem: whose, in which phase, and what. */
export const StartProblem = Schema.Struct({
  plugin: Schema.String,
  phase: Phase,
  message: Schema.String
})
export type StartProblem = typeof StartProblem.Type

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

const phaseNames: Readonly<Record<Phase, string>> = {
  plugins: "plugin list",
  services: "services",
  middleware: "middleware",
  routes: "routes",
  healthChecks: "health checks"
}

/** A failure in words: the message of an expected error, the stack of a defect, since that is a bug to find. */
export const describe = (cause: Cause.Cause<unknown>): string =>
  cause.reasons
    .map((reason) =>
      reason._tag === "Fail"
        ? describeError(reason.error)
        : reason._tag === "Die"
          ? reason.defect instanceof Error
            ? (reason.defect.stack ?? reason.defect.message)
            : String(reason.defect)
          : "interrupted"
    )
    .join("\n")

const describeError = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const name = "_tag" in error && typeof error._tag === "string" ? error._tag : error.name
  return error.message === "" ? name : `${name}: ${error.message}`
}
