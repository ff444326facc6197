/**
 * What the secret server backend is told: where the server is, how to trust it, and how it is to trust the store.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { createSecureContext } from "node:tls"
import type { Login } from "./SecretServerLogin.ts"
import type { SecretStoreConfig } from "./SecretStoreConfig.ts"

/** The options of the secret server backend. */
export interface SecretServerOptions {
  readonly url: URL
  readonly auth: Auth
  readonly keyValueMount: string
  readonly totpMount: string
  readonly namespace: string | undefined
  /** Bounds each request with all its repetitions. */
  readonly timeout: Duration.Duration
  readonly totpIssuer: string
  readonly totpPeriodInSeconds: number
  /** Certificates of the server's and the store's own; `undefined` where Node's defaults serve. */
  readonly tls: Tls | undefined
}

/** Where the token comes from. */
export type Auth =
  | { readonly method: "token"; readonly token: Redacted.Redacted }
  | { readonly method: "tokenFile"; readonly file: string }
  | Login

/** Texts in PEM. */
export interface Tls {
  readonly ca?: string
  readonly cert?: string
  readonly key?: Redacted.Redacted
}

/** The configuration of the store cannot work as it is. Every fault is listed, with its key. */
export class SecretStoreMisconfigured extends Schema.TaggedError<SecretStoreMisconfigured>()(
  "SecretStoreMisconfigured",
  { faults: Schema.Array(Schema.Struct({ key: Schema.String, message: Schema.String })) }
) {
  override get message(): string {
    const faults = this.faults.map(({ key, message }) => `secretstore:${key}: ${message}`)
    return `The secret store cannot start: ${faults.join("; ")}`
  }
}

type Config = SecretStoreConfig["Service"]

/** The options that a configuration asks for. The certificates are read here; tokens are read when they are needed. */
export const fromConfig = Effect.fnUntraced(function* (
  config: Config
): Effect.fn.Return<SecretServerOptions, SecretStoreMisconfigured, FileSystem.FileSystem> {
  const faults: Array<{ readonly key: string; readonly message: string }> = []
  const fault = (key: string, message: string) => void faults.push({ key, message })
  const url = urlOf(config.url, fault)
  const auth = authOf(config, fault)
  const tls = yield* tlsOf(config, fault)
  if (url?.protocol === "http:" && tls !== undefined) fault("url", "Expected an https URL, since certificates are set")
  if (!/^[A-Za-z0-9._/-]*$/.test(config.namespace)) fault("namespace", "Expected letters, digits and . _ / -")
  if (url === undefined || faults.length > 0) return yield* new SecretStoreMisconfigured({ faults })
  return {
    url,
    auth,
    keyValueMount: config.keyValueMount,
    totpMount: config.totpMount,
    namespace: config.namespace === "" ? undefined : config.namespace,
    timeout: Duration.seconds(config.timeoutInSeconds),
    totpIssuer: config.totpIssuer,
    totpPeriodInSeconds: config.totpPeriodInSeconds,
    tls
  }
})

type Fault = (key: string, message: string) => void

const urlOf = (text: string, fault: Fault): URL | undefined => {
  if (text === "") {
    fault(
      "url",
      "Expected the URL of the secret server (SECRETSTORE_URL=https://…). To keep secrets as plain files instead, for " +
        "development and tests, set secretstore:useLocalFileSystem to true (SECRETSTORE_USELOCALFILESYSTEM=true)"
    )
    return undefined
  }
  const url = URL.parse(text)
  const fits =
    (url?.protocol === "http:" || url?.protocol === "https:") &&
    url.username + url.password + url.search + url.hash === ""
  if (url !== null && fits) return url
  // The text may hold a password, so it is not repeated.
  fault("url", "Expected an http or https URL without user, password, query and fragment")
  return undefined
}

const authOf = (config: Config, fault: Fault): Auth => {
  const required = (key: keyof Config, value: string | Redacted.Redacted) => {
    const text = Redacted.isRedacted(value) ? Redacted.value(value) : value
    if (text.trim() === "") fault(key, `Expected a value, since secretstore:authMethod is ${config.authMethod}`)
    else if (!/^[\x20-\x7e]+$/.test(text) && key !== "password") fault(key, "Expected one line of visible text")
  }
  const mount = config.authMount === "" ? config.authMethod.toLowerCase() : config.authMount
  switch (config.authMethod) {
    case "token":
      required("token", config.token)
      return { method: "token", token: config.token }
    case "tokenFile":
      required("tokenFile", config.tokenFile)
      return { method: "tokenFile", file: config.tokenFile }
    case "appRole":
      required("roleId", config.roleId)
      return { method: "appRole", mount, roleId: config.roleId, secretId: config.secretId }
    case "kubernetes":
      required("kubernetesRole", config.kubernetesRole)
      required("serviceAccountTokenFile", config.serviceAccountTokenFile)
      return {
        method: "kubernetes",
        mount,
        role: config.kubernetesRole,
        serviceAccountTokenFile: config.serviceAccountTokenFile
      }
    case "userpass":
      required("username", config.username)
      required("password", config.password)
      return { method: "userpass", mount, username: config.username, password: config.password }
  }
}

const tlsOf = Effect.fnUntraced(function* (config: Config, fault: Fault) {
  const fs = yield* FileSystem.FileSystem
  const read = Effect.fnUntraced(function* (key: "caCertificateFile" | "clientCertificateFile" | "clientKeyFile") {
    if (config[key] === "") return undefined
    return yield* Effect.matchEager(fs.readFileString(config[key]), {
      onSuccess: (text) => text,
      onFailure: (error) => fault(key, error.message)
    })
  })
  const ca = yield* read("caCertificateFile")
  const cert = yield* read("clientCertificateFile")
  const key = yield* read("clientKeyFile")
  if ((config.clientCertificateFile === "") !== (config.clientKeyFile === "")) {
    fault("clientCertificateFile", "Expected both clientCertificateFile and clientKeyFile, or neither")
  }
  if (ca !== undefined && !isUsable({ ca })) fault("caCertificateFile", "Expected certificates in PEM")
  if (cert !== undefined && key !== undefined && !isUsable({ cert, key })) {
    fault("clientCertificateFile", "Expected a certificate in PEM, and its own private key in clientKeyFile")
  }
  if (ca === undefined && cert === undefined) return undefined
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key: Redacted.make(key) })
  }
})

/** Whether TLS takes the texts. Without any certificate in it, it would take a text of authorities too, and trust none. */
const isUsable = (options: { readonly ca?: string; readonly cert?: string; readonly key?: string }): boolean =>
  (options.ca === undefined || options.ca.includes("-----BEGIN ")) &&
  Option.isSome(Option.liftThrowable(createSecureContext)(options))
