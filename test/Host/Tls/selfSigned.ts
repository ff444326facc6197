/**
 * Certificates for tests, made on the spot: nothing that is secret is kept in the repository, and no tool is needed.
 */
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto"

/** A certificate that signs itself, for `localhost` and 127.0.0.1, and its key; both in PEM. */
export interface SelfSigned {
  readonly certificate: string
  readonly key: string
  readonly encryptedKey: (passphrase: string) => string
}

/** Makes a certificate; `name` is the common name by which a client can tell it from others. */
export const make = (name: string, validTo: Date = new Date("2049-01-01T00:00:00Z")): SelfSigned => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const signed = tbs(name, validTo, publicKey)
  const certificate = sequence(signed, ecdsaWithSha256, bitString(sign("sha256", signed, privateKey)))
  return {
    certificate: `-----BEGIN CERTIFICATE-----\n${certificate.toString("base64").replace(/.{64}/g, "$&\n")}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: "pkcs8", format: "pem" }),
    encryptedKey: (passphrase) => privateKey.export({ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase })
  }
}

/** What is signed (RFC 5280, section 4.1). */
const tbs = (name: string, validTo: Date, publicKey: KeyObject): Buffer => {
  const distinguishedName = sequence(der(0x31, sequence(objectId("55 04 03"), der(0x0c, Buffer.from(name)))))
  const alternativeNames = sequence(der(0x82, Buffer.from("localhost")), der(0x87, Buffer.from([127, 0, 0, 1])))
  return sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ecdsaWithSha256,
    distinguishedName,
    sequence(time(new Date("2020-01-01T00:00:00Z")), time(validTo)),
    distinguishedName,
    publicKey.export({ type: "spki", format: "der" }),
    der(0xa3, sequence(sequence(objectId("55 1d 11"), der(0x04, alternativeNames))))
  )
}

const der = (tag: number, ...contents: ReadonlyArray<Buffer>): Buffer => {
  const content = Buffer.concat(contents)
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const sequence = (...contents: ReadonlyArray<Buffer>): Buffer => der(0x30, ...contents)

const objectId = (hex: string): Buffer => der(0x06, Buffer.from(hex.replaceAll(" ", ""), "hex"))

const bitString = (bits: Buffer): Buffer => der(0x03, Buffer.from([0]), bits)

const time = (date: Date): Buffer => der(0x17, Buffer.from(`${date.toISOString().replace(/[-:T]/g, "").slice(2, 14)}Z`))

const ecdsaWithSha256 = sequence(objectId("2a 86 48 ce 3d 04 03 02"))
