/**
 * The section `host:tls` of the configuration.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Section from "../../Plugins/Section.ts"
import { DurationText } from "../Configuration/DurationText.ts"
import { HostConfig } from "../Configuration/HostConfig.ts"
import * as ListenUrl from "../Http/ListenUrl.ts"
import * as Certificate from "./Certificate.ts"

const Files = {
  certificatePath: Schema.NonEmptyString.annotateKey({
    description: "The certificate with its intermediate ones, in PEM."
  }),
  keyPath: Schema.optionalKey(Schema.NonEmptyString).annotateKey({
    description: "The private key, in PEM; where absent, it stands in the file of the certificate."
  }),
  passphrase: Schema.optionalKey(Schema.RedactedFromValue(Schema.String)).annotateKey({
    description: "What the key is encrypted with."
  })
}

/** The certificates of the `https` URLs. */
export class TlsConfig extends Section.Service<TlsConfig>()("host:tls", {
  /** The certificate of every URL that has none of its own. */
  ...Files,
  certificatePath: Schema.optionalKey(Files.certificatePath),
  certificates: Schema.Array(Schema.Struct({ url: Schema.NonEmptyString, ...Files }))
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))
    .annotateKey({ description: "Certificates of single URLs, each spelled as in host:urls." }),
  reloadInterval: DurationText.check(
    Schema.makeFilter(
      (interval) => Duration.isGreaterThanOrEqualTo(interval, Duration.seconds(1)) || "Expected one second or more"
    )
  )
    .pipe(Schema.withDecodingDefaultKey(Effect.succeed("10 seconds")))
    .annotateKey({ description: "How often the files are looked at for renewed certificates." })
}) {
  /** What keeps the `https` URLs from being served, by {@link filesOf} and by the files themselves. */
  static override readonly check = (config: Values) => faultsOf(config)
}

type Values = TlsConfig["Service"]

/** Files, with the key below which they are named. */
interface NamedFiles extends Certificate.CertificateFiles {
  readonly key: string
}

/** Finds the files of each `https` URL; the failure lists URLs without a certificate, and certificates without a URL. */
export const filesOf = (
  config: Values,
  urls: ReadonlyArray<string>
): Result.Result<ReadonlyMap<string, NamedFiles>, ReadonlyArray<Section.Fault>> => {
  const fold = (url: string) => url.trim().toLowerCase()
  const common = toFiles("host:tls", config)
  const own = new Map(
    config.certificates.map((each, index) => [fold(each.url), toFiles(`host:tls:certificates:${index}`, each)])
  )
  const files = new Map<string, NamedFiles>()
  const faults: Array<Section.Fault> = []
  for (const url of urls) {
    const found = own.get(fold(url)) ?? common
    if (found !== undefined) files.set(url, found)
    else {
      const message = `${url} has no certificate: set host:tls:certificatePath and host:tls:keyPath`
      faults.push({ key: "host:urls", message })
    }
  }
  const used = new Set(urls.map(fold))
  for (const [index, { url }] of config.certificates.entries()) {
    if (!used.has(fold(url))) {
      const message = `host:tls:certificates has one for ${url}, which is no https URL of host:urls`
      faults.push({ key: `host:tls:certificates:${index}:url`, message })
    }
  }
  return faults.length > 0 ? Result.fail(faults) : Result.succeed(files)
}

const toFiles = (
  key: string,
  { certificatePath, keyPath, passphrase }: Pick<Values, "certificatePath" | "keyPath" | "passphrase">
): NamedFiles | undefined =>
  certificatePath === undefined ? undefined : { key, certificatePath, keyPath: keyPath ?? certificatePath, passphrase }

const faultsOf = Effect.fnUntraced(function* (config: Values) {
  const host = yield* Effect.serviceOption(HostConfig)
  if (Option.isNone(host)) return []
  const urls = Result.getOrElse(ListenUrl.parseList(host.value.urls), () => [])
  const assigned = filesOf(
    config,
    urls.filter(({ isSecure }) => isSecure).map(({ url }) => url)
  )
  if (Result.isFailure(assigned)) return assigned.failure
  const faults: Array<Section.Fault> = []
  for (const files of new Set(assigned.success.values())) {
    const loaded = yield* Effect.result(Certificate.load(files))
    if (Result.isSuccess(loaded)) continue
    const { message, path } = loaded.failure
    faults.push({ key: `${files.key}:${path === files.certificatePath ? "certificatePath" : "keyPath"}`, message })
  }
  return faults
})
