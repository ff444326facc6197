/**
 * The section `host:tls` of the configuration.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Section from "../../Plugins/Section.ts"
import { DurationText } from "../Configuration/DurationText.ts"
import type { CertificateFiles } from "./Certificate.ts"

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
}) {}

/** Finds the files of each `https` URL; the failure lists URLs without a certificate, and certificates without a URL. */
export const filesOf = (
  config: TlsConfig["Service"],
  urls: ReadonlyArray<string>
): Result.Result<ReadonlyMap<string, CertificateFiles>, ReadonlyArray<string>> => {
  const fold = (url: string) => url.trim().toLowerCase()
  const common = toFiles(config)
  const own = new Map(config.certificates.map((each) => [fold(each.url), toFiles(each)]))
  const files = new Map<string, CertificateFiles>()
  const problems: Array<string> = []
  for (const url of urls) {
    const found = own.get(fold(url)) ?? common
    if (found !== undefined) files.set(url, found)
    else problems.push(`${url} has no certificate: set host:tls:certificatePath and host:tls:keyPath`)
  }
  const used = new Set(urls.map(fold))
  for (const { url } of config.certificates) {
    if (!used.has(fold(url))) {
      problems.push(`host:tls:certificates has one for ${url}, which is no https URL of host:urls`)
    }
  }
  return problems.length > 0 ? Result.fail(problems) : Result.succeed(files)
}

const toFiles = ({
  certificatePath,
  keyPath,
  passphrase
}: Pick<TlsConfig["Service"], "certificatePath" | "keyPath" | "passphrase">): CertificateFiles | undefined =>
  certificatePath === undefined ? undefined : { certificatePath, keyPath: keyPath ?? certificatePath, passphrase }
