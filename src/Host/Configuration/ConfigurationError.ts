/**
 * What is wrong with the configuration, all of it at once.
 */
import * as Schema from "effect/Schema"

/** One fault, or one thing to warn of. No secret value stands in any field. */
export class ConfigurationProblem extends Schema.Class<ConfigurationProblem>(
  "layerhost/Host/Configuration/ConfigurationProblem"
)({
  /** The key, with the spelling of its section: `host:maxRequestSize`. Null where a whole file or directory is at fault. */
  key: Schema.NullOr(Schema.String),
  /** `path:line:column`, a path, a variable or an argument. Null where nothing sets the key. */
  source: Schema.NullOr(Schema.String),
  /** What should have stood there. */
  expected: Schema.String,
  /** The id of the plugin that owns the section. */
  owner: Schema.NullOr(Schema.String),
  /** What is wrong, in one line, without the key and the source. */
  message: Schema.String
}) {
  /** The problem in one or two lines. */
  override toString(): string {
    const subject = this.key ?? this.source ?? "configuration"
    const where = this.key === null ? null : this.source
    const details = [where === null ? "" : `from ${where}`, this.owner === null ? "" : `(plugin ${this.owner})`]
      .filter((detail) => detail !== "")
      .join(" ")
    return details === "" ? `${subject}: ${this.message}` : `${subject}: ${this.message}\n    ${details}`
  }
}

/**
 * The configuration cannot be used. It holds every problem that was found, and the warnings, since a misspelled key is often
 * why another is missing. Its message is the whole report.
 */
export class ConfigurationError extends Schema.TaggedError<ConfigurationError>(
  "layerhost/Host/Configuration/ConfigurationError"
)("ConfigurationError", {
  problems: Schema.Array(ConfigurationProblem),
  warnings: Schema.Array(ConfigurationProblem)
}) {
  override get message(): string {
    return [...list("configuration error", this.problems), ...list("warning", this.warnings)].join("\n")
  }
}

const list = (what: string, problems: ReadonlyArray<ConfigurationProblem>): ReadonlyArray<string> =>
  problems.length === 0
    ? []
    : [
        `${problems.length} ${what}${problems.length === 1 ? "" : "s"}:`,
        ...problems.map((problem) => `  ${problem.toString().replaceAll("\n", "\n  ")}`)
      ]
