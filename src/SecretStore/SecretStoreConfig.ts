/**
 * The `secretstore` section of the configuration.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Section from "../Plugins/Section.ts"
import { EncryptionKeyText } from "./EncryptionKey.ts"
import * as FileBackendOptions from "./FileBackendOptions.ts"
import * as SecretServerOptions from "./SecretServerOptions.ts"

/** The ways to get a token of the secret server. */
export const authMethods = ["token", "tokenFile", "appRole", "kubernetes", "userpass"] as const

const text = (value: string) => Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed(value)))

const secret = Schema.RedactedFromValue(Schema.String).pipe(Schema.withDecodingDefaultKey(Effect.succeed("")))

/** Slashes are for mounts below others, as in `team/credentials`. */
const mountPattern = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$/

const mount = (value: string) =>
  Schema.String.check(
    Schema.makeFilter((path: string) => mountPattern.test(path) || path === value, {
      expected: 'the path of a mount, such as "credentials" or "team/credentials", without a slash at its ends'
    })
  ).pipe(Schema.withDecodingDefaultKey(Effect.succeed(value)))

const seconds = (maximum: number) =>
  Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum })).pipe(Schema.withDecodingDefaultKey(Effect.succeed(0)))

const Fields = Section.Service<SecretStoreConfig>()("secretstore", {
  url: text("").annotateKey({ description: "The base URL of the secret server." }),
  token: secret.annotateKey({ description: "Authenticates with the secret server, where authMethod is token." }),
  totpIssuer: text("layerhost").annotateKey({ description: "The issuer that the secret server stores with a seed." }),
  totpPeriodInSeconds: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 86_400 }))
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed(30)))
    .annotateKey({ description: "How long a one-time password is valid, in seconds." }),
  useLocalFileSystem: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))).annotateKey({
    description: "Keeps secrets in local files instead of on the server."
  }),
  localFileSystemPath: Schema.NonEmptyString.pipe(
    Schema.withDecodingDefaultKey(Effect.succeed("./nodep-secretstore"))
  ).annotateKey({ description: "The root directory of the files; relative to the working directory." }),
  localFileSystemVersions: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 100 }))
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed(10)))
    .annotateKey({ description: "How many versions of a secret its file keeps, the one that stands among them." }),
  encryptionKey: Schema.optionalKey(EncryptionKeyText).annotateKey({
    description: "Encrypts the files: 32 bytes in base64. Without it and encryptionKeyFile, files are plain."
  }),
  encryptionKeyFile: text("").annotateKey({
    description: "The file that holds the key in its first line, and former keys in those below."
  }),
  formerEncryptionKeys: Schema.Array(EncryptionKeyText)
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))
    .annotateKey({ description: "Keys of files that are not encrypted again with the present one yet." }),
  acceptPlainFiles: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false))).annotateKey({
    description: "Reads plain files beside encrypted ones, while a directory is on its way to encryption."
  }),

  cacheInSeconds: seconds(3600).annotateKey({
    description: "How long a secret that was read is given again without asking the backend; 0 for not at all."
  }),
  cacheStaleInSeconds: seconds(86_400).annotateKey({
    description: "How much longer it is given while the backend is away, stale perhaps; 0 for not at all."
  }),
  cacheCapacity: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1_000_000 }))
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed(1000)))
    .annotateKey({ description: "The most secrets that are kept in memory so." }),

  keyValueMount: mount("credentials").annotateKey({
    description: "Where the server's key-value engine, version 2, is mounted."
  }),
  totpMount: mount("totp").annotateKey({ description: "Where the server's TOTP engine is mounted." }),
  namespace: text("").annotateKey({
    description: "The namespace of the mounts and of the authentication; empty for the root namespace."
  }),
  timeoutInSeconds: Schema.Finite.check(Schema.isBetween({ minimum: 0.1, maximum: 300 }))
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed(10)))
    .annotateKey({ description: "Bounds each request to the server with all its repetitions, in seconds." }),

  caCertificateFile: text("").annotateKey({
    description:
      "The certificates (PEM) of the authorities that may vouch for the server; empty for those that Node knows."
  }),
  clientCertificateFile: text("").annotateKey({
    description: "The certificate (PEM) that the store shows to the server; empty for none."
  }),
  clientKeyFile: text("").annotateKey({ description: "The private key (PEM) of that certificate." }),

  authMethod: Schema.Literals(authMethods)
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed("token" as const)))
    .annotateKey({ description: "How the store gets its token." }),
  authMount: mount("").annotateKey({
    description: "Where the authentication is mounted, below auth/; empty for approle, kubernetes or userpass."
  }),
  tokenFile: text("").annotateKey({
    description: "tokenFile: the file that holds the token; read anew for each request."
  }),
  roleId: text("").annotateKey({ description: "appRole: the id of the role." }),
  secretId: secret.annotateKey({ description: "appRole: the secret id; empty for a role that asks for none." }),
  kubernetesRole: text("").annotateKey({ description: "kubernetes: the name of the role." }),
  serviceAccountTokenFile: text("/var/run/secrets/kubernetes.io/serviceaccount/token").annotateKey({
    description: "kubernetes: the token of the pod's service account; read anew for each login."
  }),
  username: text("").annotateKey({ description: "userpass: who logs in." }),
  password: secret.annotateKey({ description: "userpass: the password." })
})

/** Which backend keeps the secrets, and how one-time passwords are made. */
export class SecretStoreConfig extends Fields {
  static override readonly schema = Fields.schema.check(
    Schema.makeFilter(({ acceptPlainFiles, encryptionKey, encryptionKeyFile, formerEncryptionKeys }) => {
      const wrong = (key: string, issue: string) => ({ path: [key], issue })
      const isEncrypted = encryptionKey !== undefined || encryptionKeyFile !== ""
      return [
        ...(encryptionKey !== undefined && encryptionKeyFile !== ""
          ? [wrong("encryptionKeyFile", "Expected either encryptionKey or encryptionKeyFile, not both")]
          : []),
        ...(formerEncryptionKeys.length > 0 && !isEncrypted
          ? [wrong("formerEncryptionKeys", "Expected encryptionKey or encryptionKeyFile beside it")]
          : []),
        ...(acceptPlainFiles && !isEncrypted
          ? [
              wrong(
                "acceptPlainFiles",
                "Expected encryptionKey or encryptionKeyFile beside it; without them files are plain"
              )
            ]
          : [])
      ]
    })
  )

  /** Whether the backend that is asked for could start. */
  static override readonly check: Section.Check<SecretStoreConfig["Service"]> = (config) => {
    const options = config.useLocalFileSystem
      ? Effect.asVoid(FileBackendOptions.fromConfig(config))
      : Effect.asVoid(SecretServerOptions.fromConfig(config))
    return Effect.match(options, {
      onSuccess: () => [],
      onFailure: ({ faults }) => faults.map(({ key, message }) => ({ key: `secretstore:${key}`, message }))
    })
  }
}
