/**
 * A certificate with its private key, from files.
 */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { createHash, createPrivateKey, type KeyObject, X509Certificate } from "node:crypto"
import { readFile } from "node:fs/promises"
import { createSecureContext, type SecureContextOptions } from "node:tls"

/** Where a certificate stands. */
export interface CertificateFiles {
  readonly certificatePath: string
  readonly keyPath: string
  readonly passphrase: Redacted.Redacted<string> | undefined
}

/** A certificate that can be served. */
export interface Certificate {
  /** What Node makes a server of. It holds the key: it is not to be logged. */
  readonly context: SecureContextOptions
  /** The same only where both files are. */
  readonly fingerprint: string
  readonly validTo: Date
}

/** A certificate cannot be served: a file cannot be read, is something else, or the two do not fit. */
export class CertificateError extends Schema.TaggedError<CertificateError>()("CertificateError", {
  path: Schema.String,
  reason: Schema.String
}) {
  override get message(): string {
    return `${this.path} ${this.reason}`
  }
}

/** Reads and checks a certificate and its key. */
export const load = Effect.fnUntraced(function* ({ certificatePath, keyPath, passphrase }: CertificateFiles) {
  const fail = (path: string, reason: string) => Effect.fail(new CertificateError({ path, reason }))
  const cert = yield* read(certificatePath)
  const key = yield* read(keyPath)
  const secret = passphrase === undefined ? undefined : Redacted.value(passphrase)

  const certificate = parseCertificate(cert)
  if (certificate === undefined) return yield* fail(certificatePath, "holds no certificate in PEM")
  const privateKey = parseKey(key, secret)
  if (typeof privateKey === "string") return yield* fail(keyPath, privateKey)
  if (!certificate.checkPrivateKey(privateKey)) {
    return yield* fail(keyPath, `holds another key than that of the certificate ${certificatePath}`)
  }
  const context: SecureContextOptions = { cert, key, ...(secret === undefined ? undefined : { passphrase: secret }) }
  // What else OpenSSL may have against it, such as a key that is too small.
  yield* Effect.try({
    try: () => createSecureContext(context),
    catch: (cause) =>
      new CertificateError({ path: certificatePath, reason: `cannot be served: ${(cause as Error).message}` })
  })
  return {
    context,
    fingerprint: createHash("sha256").update(cert).update("\0").update(key).digest("hex"),
    validTo: certificate.validToDate
  } satisfies Certificate
})

const read = (path: string) =>
  Effect.tryPromise({
    try: () => readFile(path),
    catch: (cause) =>
      new CertificateError({ path, reason: reasons[(cause as NodeJS.ErrnoException).code ?? ""] ?? "cannot be read" })
  })

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EACCES: "cannot be read: permission denied",
  EISDIR: "is a directory"
}

const parseCertificate = (pem: Buffer): X509Certificate | undefined => {
  try {
    return new X509Certificate(pem)
  } catch {
    return undefined
  }
}

/** The key, or why there is none. */
const parseKey = (pem: Buffer, passphrase: string | undefined): KeyObject | string => {
  try {
    return createPrivateKey({ key: pem, ...(passphrase === undefined ? undefined : { passphrase }) })
  } catch {
    if (!pem.includes("ENCRYPTED")) return "holds no private key in PEM"
    return passphrase === undefined ? "is encrypted: set its passphrase" : "is encrypted with another passphrase"
  }
}
