/** The reference of docs, made from the code: keys, commands, errors, metrics. */
import { commands } from "./commands.ts"
import { errors } from "./errors.ts"
import { keys } from "./keys.ts"
import { metrics } from "./metrics.ts"

/** The text of `docs/reference.md`. */
export const reference = async (): Promise<string> => `# Reference

Made from the code by \`npm run generate\`; do not edit.

## Configuration keys

What they mean together is in [the README](../README.md#configuration). Your own service's keys, with its plugins', are shown by
\`layerhost config list\` and \`layerhost config explain <key>\`.

${keys()}

## Commands

${await commands()}

## Errors

What the entries of the package export. All are \`Error\`s with a message that says what happened, where, and what to do; those with
fields are tagged by their names.

${await errors()}

## Metrics

${await metrics()}

Labels, and the names in \`/metrics\`, are in [the README](../README.md#metrics).
`
