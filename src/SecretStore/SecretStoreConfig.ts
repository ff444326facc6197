/**
 * The `secretstore` section of the configuration.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Section from "../Plugins/Section.ts"

const text = (value: string) => Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed(value)))

/** Which backend keeps the secrets, and how one-time passwords are made. */
export class SecretStoreConfig extends Section.Service<SecretStoreConfig>()("secretstore", {
  /** The base URL of the secret server. */
  url: text(""),
  /** Authenticates with the secret server. */
  token: Schema.RedactedFromValue(Schema.String).pipe(Schema.withDecodingDefaultKey(Effect.succeed(""))),
  /** The issuer that the secret server stores with a seed. */
  totpIssuer: text("layerhost"),
  totpPeriodInSeconds: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 86_400 })).pipe(
    Schema.withDecodingDefaultKey(Effect.succeed(30))
  ),
  /** Keeps secrets as plain files instead of on the server. */
  useLocalFileSystem: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))),
  /** The root directory of the files; relative to the working directory. */
  localFileSystemPath: Schema.NonEmptyString.pipe(Schema.withDecodingDefaultKey(Effect.succeed("./nodep-secretstore")))
}) {}
