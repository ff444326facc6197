/**
 * The values of a secret: from standard input, or from prompts that do not echo them.
 */
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stdio from "effect/Stdio"
import * as Stream from "effect/Stream"
import * as Terminal from "effect/Terminal"
import * as Prompt from "effect/cli/Prompt"
import * as YAML from "yaml"
import { SecretInput } from "../../SecretStore/Secret.ts"
import { fields } from "../../SecretStore/SecretInputValidation.ts"
import { SecretInvalid } from "../../SecretStore/SecretStorageError.ts"
import * as SecretType from "../../SecretStore/SecretType.ts"
import { exitCodes, fromStorage, SecretsCommandError, usage } from "./SecretsCommandError.ts"

/**
 * A secret of the type, or of any type where none is given: typed on a terminal, else a document on standard input, in JSON
 * or YAML, with the fields that the HTTP interface of the example has.
 */
export const read = Effect.fnUntraced(function* (type: SecretType.SecretType | undefined) {
  const { stdinIsTerminal } = yield* Stdio.Stdio
  const document = (yield* stdinIsTerminal) ? yield* ask(type) : yield* readDocument(type)
  return yield* decode(document)
})

const decodeInput = Schema.decodeUnknownEffect(SecretInput, { errors: "all" })

const decode = (document: unknown): Effect.Effect<SecretInput, SecretsCommandError> =>
  Effect.mapError(decodeInput(document), ({ issue }) => fromStorage(new SecretInvalid({ issues: fields(issue) })))

/** Longer than any secret that a backend takes, and than the seeds of a hundred thousand. */
const maxInputLength = 16 * 1024 * 1024

/** All that comes on standard input, up to a size that nothing has which belongs there. */
export const readText = Effect.fnUntraced(function* () {
  const { stdin } = yield* Stdio.Stdio
  return yield* Stream.decodeText(stdin).pipe(
    Stream.mapError(({ message }) => usage(`Standard input cannot be read: ${message}`)),
    Stream.runFoldEffect(
      () => "",
      (text, piece) =>
        text.length + piece.length > maxInputLength
          ? Effect.fail(
              usage(`Standard input is longer than ${maxInputLength} characters: look at what is led into it`)
            )
          : Effect.succeed(text + piece)
    )
  )
})

const expected = 'Expected an object, for example {"type": "UsernamePassword", "username": …, "password": …}'

const readDocument = Effect.fnUntraced(function* (type: SecretType.SecretType | undefined) {
  const text = yield* readText()
  if (text.trim() === "") {
    return yield* usage("Standard input is empty. Expected a secret in JSON or YAML, or a terminal to type it at")
  }
  // The parser's own message quotes the text, which is secret.
  const document = yield* Effect.try({
    try: (): unknown => YAML.parse(text, { logLevel: "error" }),
    catch: () => usage(`Standard input is neither JSON nor YAML. ${expected}`)
  })
  if (typeof document !== "object" || document === null || Array.isArray(document)) {
    return yield* usage(`Standard input holds no secret. ${expected}`)
  }
  return type === undefined || "type" in document ? document : { ...document, type }
})

const ask = Effect.fnUntraced(function* (given: SecretType.SecretType | undefined) {
  const type =
    given ??
    (yield* prompt(
      Prompt.Select({ message: "Type", choices: SecretType.all.map((type) => ({ title: type, value: type })) })
    ))
  switch (type) {
    case "UsernamePassword":
      return { type, ...(yield* login()) }
    case "UsernamePasswordApiKey":
      return { type, ...(yield* login()), apiKey: yield* hidden("API key") }
    case "UsernamePasswordTotp":
      return {
        type,
        ...(yield* login()),
        totp: { totpKey: { base32Key: yield* hidden("Seed (Base32 or otpauth:// URI)") } }
      }
    case "Certificate":
      return yield* certificate()
  }
})

const login = Effect.fnUntraced(function* () {
  return { username: yield* prompt(Prompt.String({ message: "User name" })), password: yield* hidden("Password") }
})

/** A certificate has many lines, so it comes from a file. */
const certificate = Effect.fnUntraced(function* () {
  const fs = yield* FileSystem.FileSystem
  const file = yield* prompt(Prompt.String({ message: "File of the certificate (PEM)" }))
  const pem = yield* Effect.mapError(fs.readFileString(file), ({ message }) => usage(message))
  const passphrase = yield* hidden("Passphrase of its key (empty for none)")
  return { type: "Certificate" as const, certificate: pem, ...(passphrase !== "" && { passphrase }) }
})

/** A value that is not echoed. */
export const hidden = (message: string) => Effect.map(prompt(Prompt.Hidden({ message })), Redacted.value)

/** Asks on standard error, since standard output is for answers and may lead into a file. */
export const prompt = Effect.fnUntraced(function* <A>(question: Prompt.Prompt<A>) {
  const terminal = yield* Terminal.Terminal
  const stdio = yield* Stdio.Stdio
  const display = (text: string) => Stream.run(Stream.make(text), stdio.stderr())
  return yield* Prompt.run(question).pipe(
    Effect.provideService(Terminal.Terminal, { ...terminal, display }),
    Effect.mapError(
      () =>
        new SecretsCommandError({ message: "Given up: nothing was written", tag: "Quit", exitCode: exitCodes.failed })
    )
  )
})
