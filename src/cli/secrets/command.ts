/** `layerhost secrets`: its subcommands and their arguments. */
import * as Effect from "effect/Effect"
import * as Argument from "effect/cli/Argument"
import * as Command from "effect/cli/Command"
import * as Flag from "effect/cli/Flag"
import * as SecretType from "../../SecretStore/SecretType.ts"
import { json, optional, plugins } from "../arguments.ts"
import { refuseValues } from "./SecretsCommandError.ts"

const service = {
  service: Flag.String("service").pipe(
    Flag.withDescription("The service's directory, this one by default; behind -- the arguments of the service itself"),
    Flag.withDefault(".")
  ),
  plugins,
  set: Flag.String("set").pipe(Flag.withDescription("The bucket set, where the service has several"), optional),
  json
}

/** What someone may try who wants to give a value as an argument. They hear why not; the value is never repeated. */
const valueNames = [
  "value",
  "secret",
  "username",
  "password",
  "api-key",
  "apiKey",
  "totp",
  "totp-key",
  "totpKey",
  "seed",
  "certificate",
  "passphrase"
]
const values = valueNames.map((name) => optional(Flag.withHidden(Flag.Redacted(name))))

const operands = (name: string, description: string) =>
  Argument.String(name).pipe(Argument.withDescription(description), (operand) => Argument.variadic(operand))

const id = operands("id", "The id of the secret")

type Run = typeof import("./run.ts")

/** Only a command that runs pays for loading the store's modules. */
const run = <A, E, R>(
  options: { readonly json: boolean; readonly values: ReadonlyArray<unknown> },
  use: (run: Run) => Effect.Effect<A, E, R>
) =>
  Effect.gen(function* () {
    const module = yield* Effect.promise(() => import("./run.ts"))
    const given = options.values.filter((value) => value !== undefined)
    return yield* module.answering(options)(Effect.andThen(refuseValues(given), use(module)))
  })

const create = Command.make(
  "create",
  {
    ...service,
    values,
    operands: operands("bucket", "The name of the bucket"),
    type: Flag.Literals("type", SecretType.all).pipe(
      Flag.withDescription("The type of the secret, where standard input does not say it"),
      optional
    )
  },
  (options) => run(options, ({ create }) => create(options))
).pipe(
  Command.withDescription("Store a secret, from standard input (JSON or YAML) or from prompts, and print its id"),
  Command.withExamples([
    { command: "layerhost secrets create ApiKeys", description: "Type the values at prompts that do not echo them" },
    { command: "layerhost secrets create ApiKeys < secret.json", description: "Take them from a file" }
  ])
)

const get = Command.make(
  "get",
  {
    ...service,
    values,
    operands: id,
    field: Flag.String("field").pipe(Flag.withDescription("Print only this field, as it is"), optional),
    reveal: Flag.Boolean("reveal").pipe(
      Flag.withDescription("Show secret values on a terminal; a pipe or a file gets them anyway"),
      Flag.withDefault(false)
    )
  },
  (options) => run(options, ({ get }) => get(options))
).pipe(
  Command.withDescription("Print a secret as YAML; its values are hidden on a terminal unless --reveal is given"),
  Command.withExamples([
    { command: "layerhost secrets get <id> --reveal", description: "Look at a secret" },
    { command: "layerhost secrets get <id> --field password | pbcopy", description: "Hand one value on" }
  ])
)

const update = Command.make(
  "update",
  {
    ...service,
    values,
    operands: id,
    expectedVersion: Flag.Int("expected-version").pipe(
      Flag.withDescription("Do it only where this version stands, as history shows it"),
      optional
    )
  },
  (options) => run(options, ({ update }) => update(options))
).pipe(Command.withDescription("Replace a secret, from standard input (JSON or YAML) or from prompts; the id stays"))

const remove = Command.make(
  "delete",
  {
    ...service,
    values,
    operands: id,
    yes: Flag.Boolean("yes").pipe(Flag.withDescription("Do not ask on a terminal"), Flag.withDefault(false))
  },
  (options) => run(options, ({ remove }) => remove(options))
).pipe(Command.withDescription("Remove a secret with all its versions; that there is none is no failure"))

const list = Command.make(
  "list",
  { ...service, values, operands: operands("bucket", "The name of a bucket; all buckets by default") },
  (options) => run(options, ({ list }) => list(options))
).pipe(Command.withDescription("Print the ids of secrets, each with its bucket and type"))

const totp = Command.make("totp", { ...service, values, operands: id }, (options) =>
  run(options, ({ totp }) => totp(options))
).pipe(Command.withDescription("Print the current code of a one-time password"))

const parseId = Command.make("parse-id", { ...service, values, operands: id }, (options) =>
  run(options, ({ parseId }) => parseId(options))
).pipe(Command.withDescription("Print the bucket and type that an id names; nothing is read"))

const history = Command.make("history", { ...service, values, operands: id }, (options) =>
  run(options, ({ history }) => history(options))
).pipe(Command.withDescription("Print the versions of a secret that can be restored, the newest first"))

const restore = Command.make(
  "restore",
  { ...service, values, operands: operands("id-and-version", "The id of the secret, and the number of the version") },
  (options) => run(options, ({ restore }) => restore(options))
).pipe(Command.withDescription("Write an earlier version of a secret again, as the newest one"))

const dryRun = Flag.Boolean("dry-run").pipe(
  Flag.withDescription("Write nothing; tell what would be done"),
  Flag.withDefault(false)
)

const acceptPlainFiles = Flag.Boolean("accept-plain-files").pipe(
  Flag.withDescription("Read plain files too, though a key is set"),
  Flag.withDefault(false)
)

const encrypt = Command.make(
  "encrypt",
  { ...service, values, operands: operands("nothing", "None"), dryRun, acceptPlainFiles },
  (options) => run(options, ({ encrypt }) => encrypt(options))
).pipe(
  Command.withDescription(
    "Encrypt the local files that are not encrypted with the present key yet, while services run"
  ),
  Command.withExamples([
    {
      command: "layerhost secrets encrypt",
      description: "After another key was set, the old one among the former keys"
    },
    { command: "layerhost secrets encrypt --accept-plain-files", description: "The first time, over plain files" }
  ])
)

const end = (name: "from" | "to", what: string) =>
  Flag.String(name).pipe(
    Flag.withDescription(
      `${what}: files, files:<directory> or server, as the configuration of the service says otherwise, or config:<directory>` +
        " for the section secretstore of other appsettings files"
    )
  )

const migrate = Command.make(
  "migrate",
  {
    ...service,
    values,
    operands: operands("nothing", "None"),
    from: end("from", "Where the secrets are"),
    to: end("to", "Where they are to be"),
    dryRun,
    acceptPlainFiles,
    seeds: Flag.Boolean("seeds").pipe(
      Flag.withDescription(
        "Take new seeds of one-time passwords, where the source does not give them: from prompts, or as a JSON object of" +
          " ids and seeds on standard input"
      ),
      Flag.withDefault(false)
    )
  },
  (options) =>
    run(options, () =>
      Effect.flatMap(
        Effect.promise(() => import("./migrate.ts")),
        ({ migrate }) => migrate(options)
      )
    )
).pipe(
  Command.withDescription(
    "Copy all secrets to another backend under their ids and verify each; what is there already is passed over, so a run" +
      " that was stopped is begun again"
  ),
  Command.withExamples([
    { command: "layerhost secrets migrate --from files --to server --dry-run", description: "See what would be moved" },
    {
      command: "layerhost secrets migrate --from files:./plain --to files --accept-plain-files",
      description: "From plain files to encrypted ones"
    }
  ])
)

/** Keeps, shows and moves the secrets of a service from the command line. */
export const secrets = Command.make("secrets").pipe(
  Command.withDescription("Keep, show and move the secrets of a service; values come from standard input or prompts"),
  Command.withSubcommands([create, get, update, remove, list, totp, parseId, history, restore, encrypt, migrate])
)
