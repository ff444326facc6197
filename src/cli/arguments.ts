/** Arguments that several commands take. */
import * as Option from "effect/Option"
import * as Argument from "effect/cli/Argument"
import * as Flag from "effect/cli/Flag"

/** Where a command works. */
export const directory = Argument.String("directory").pipe(
  Argument.withDescription("The service's directory, where its package.json is"),
  Argument.withDefault(".")
)

/** The program of a service. */
export const main = Flag.String("main").pipe(
  Flag.withDescription("The program of the service, in its directory"),
  Flag.withDefault("src/main.ts")
)

/** Where a command works, and behind `--` what the service itself takes. */
export const operands = Argument.String("directory").pipe(
  Argument.withDescription(
    "The service's directory, this one by default; behind -- the arguments of the service itself"
  ),
  (directory) => Argument.variadic(directory)
)

/** A flag that need not be given. */
export const optional = <A>(flag: Flag.Flag<A>) => flag.pipe(Flag.optional, Flag.map(Option.getOrUndefined))

/** Where the plugins are, if not in the generated list. */
export const plugins = Flag.String("plugins").pipe(
  Flag.withDescription("The module that exports the service's plugins, where it is not the generated list"),
  optional
)

/** For programs that read what a command prints. */
export const json = Flag.Boolean("json").pipe(Flag.withDescription("Answer in JSON"), Flag.withDefault(false))
