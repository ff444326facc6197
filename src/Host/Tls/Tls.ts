/**
 * The certificates that the host serves, each as its files hold it now.
 *
 * The files are read again and again rather than watched: that finds a renewal however it comes about, by writing, renaming,
 * or a link that leads elsewhere.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Certificate from "./Certificate.ts"
import * as TlsConfig from "./TlsConfig.ts"

/** What is wrong with the certificates of the `https` URLs, all of it at once. */
export class TlsError extends Schema.TaggedError<TlsError>()("TlsError", {
  problems: Schema.NonEmptyArray(Schema.String)
}) {
  override get message(): string {
    return ["Cannot serve https:", ...this.problems.map((problem) => `  - ${problem}`)].join("\n")
  }
}

/** A certificate that is renewed while it is served. */
export class ServedCertificate {
  readonly #listeners = new Set<(certificate: Certificate.Certificate) => void>()
  readonly files: Certificate.CertificateFiles
  current: Certificate.Certificate

  constructor(files: Certificate.CertificateFiles, certificate: Certificate.Certificate) {
    this.files = files
    this.current = certificate
  }

  /** Calls the listener with every later certificate, until the function that it gives is called. */
  onRenewed(listener: (certificate: Certificate.Certificate) => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  renew(certificate: Certificate.Certificate): void {
    this.current = certificate
    for (const listener of this.#listeners) listener(certificate)
  }
}

/** The certificate of each `https` URL. */
export type ServedCertificates = ReadonlyMap<string, ServedCertificate>

/**
 * Loads the certificate of each `https` URL, and keeps them renewed until the scope closes. Renewed files that cannot be
 * served are logged, and the certificate from before stays.
 */
export const make = Effect.fnUntraced(function* (config: TlsConfig.TlsConfig["Service"], urls: ReadonlyArray<string>) {
  const assigned = TlsConfig.filesOf(config, urls)
  if (Result.isFailure(assigned)) return yield* failure(assigned.failure.map(({ message }) => message))
  const problems: Array<string> = []
  // URLs that share a certificate share its renewals, too.
  const served = new Map<Certificate.CertificateFiles, ServedCertificate>()
  for (const files of new Set(assigned.success.values())) {
    const loaded = yield* Effect.result(Certificate.load(files))
    if (Result.isFailure(loaded)) problems.push(loaded.failure.message)
    else served.set(files, new ServedCertificate(files, loaded.success))
  }
  if (problems.length > 0) return yield* failure(problems)
  for (const { current, files } of served.values()) yield* warnIfExpired(files, current)
  if (served.size > 0) {
    const looks = Effect.all([...served.values()].map(renewal), { discard: true })
    yield* Effect.forkScoped(Effect.forever(Effect.delay(looks, config.reloadInterval)))
  }
  return new Map([...assigned.success].map(([url, files]) => [url, served.get(files)!])) as ServedCertificates
})

const failure = ([first, ...rest]: ReadonlyArray<string>) => Effect.fail(new TlsError({ problems: [first!, ...rest] }))

/** One look at the files of a certificate; it remembers the last one when it is run again. */
export const renewal = (served: ServedCertificate): Effect.Effect<void> => {
  const { files } = served
  const { certificatePath } = files
  let problem: string | undefined
  let isLogged = false
  return Effect.matchEffect(Certificate.load(files), {
    onSuccess: (certificate) => {
      problem = undefined
      isLogged = false
      if (certificate.fingerprint === served.current.fingerprint) return Effect.void
      served.renew(certificate)
      const validTo = certificate.validTo.toISOString()
      return Effect.andThen(
        Effect.logInfo(`Renewed the certificate of ${certificatePath}, valid until ${validTo}`),
        warnIfExpired(files, certificate)
      )
    },
    onFailure: ({ message }) => {
      // Between two files that are written one after the other they do not fit; that passes.
      const persists = message === problem
      problem = message
      if (!persists || isLogged) return Effect.void
      isLogged = true
      return Effect.logError(
        `The certificate of ${certificatePath} was not renewed: ${message}; the one from before stays`
      )
    }
  })
}

const warnIfExpired = ({ certificatePath }: Certificate.CertificateFiles, { validTo }: Certificate.Certificate) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) =>
    validTo.getTime() < now
      ? Effect.logWarning(`The certificate of ${certificatePath} expired at ${validTo.toISOString()}`)
      : Effect.void
  )
