/** Only a command that runs pays for loading what it runs: the host, the parser, the bundler. */
import * as Effect from "effect/Effect"

/** What a command does: the function `run` of a module that is loaded for it. */
export const lazily =
  <Options, A, E, R>(load: () => Promise<{ readonly run: (options: Options) => Effect.Effect<A, E, R> }>) =>
  (options: Options): Effect.Effect<A, E, R> =>
    Effect.flatMap(Effect.promise(load), ({ run }) => run(options))
