import { describe, expect, it } from "@effect/vitest"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { randomBytes } from "node:crypto"
import { inspect } from "node:util"
import * as EncryptionKey from "../../src/SecretStore/EncryptionKey.ts"
import * as FileEncryption from "../../src/SecretStore/FileEncryption.ts"

const text = (bytes: Buffer = randomBytes(32)) => Redacted.make(bytes.toString("base64"))
const key = (bytes?: Buffer) => Result.getOrThrow(EncryptionKey.parse(text(bytes)))
const place = "Credentials/ApiKeys/UsernamePassword/00"

describe("EncryptionKey", () => {
  it("is 32 bytes in base64, with or without padding, and shows neither its bytes nor its text", () => {
    const bytes = Buffer.alloc(32, 7)
    const padded = bytes.toString("base64")
    for (const spelling of [padded, padded.replace("=", ""), ` ${padded}\n`]) {
      const parsed = Result.getOrThrow(EncryptionKey.parse(Redacted.make(spelling)))
      expect(parsed.key.export()).toEqual(bytes)
      expect(inspect(parsed, { depth: 5, showHidden: true }) + JSON.stringify(parsed)).not.toContain("BwcH")
    }
    expect(key(bytes).id).toMatch(/^[0-9a-f]{16}$/)
    expect(key(bytes).id).toBe(key(bytes).id)
    expect(key().id).not.toBe(key().id)
  })

  it("refuses every other text without repeating it", () => {
    const wrong = ["", "canary", ...[0, 16, 31, 33, 64].map((length) => randomBytes(length).toString("base64"))]
    for (const each of [...wrong, `${"A".repeat(42)}B=`, `${"_".repeat(43)}=`, randomBytes(32).toString("hex")]) {
      const parsed = EncryptionKey.parse(Redacted.make(each))
      expect(Result.isFailure(parsed) && parsed.failure).toBe(
        "Expected 32 bytes in base64, as `openssl rand -base64 32` makes them"
      )
    }
  })
})

describe("FileEncryption", () => {
  const failureOf = (opened: Result.Result<string, FileEncryption.Unopened>) =>
    Result.isFailure(opened) ? opened.failure.reason : "opened"

  it.prop("opens what it sealed, whatever it was, and never seals the same way twice", [Schema.String], ([value]) => {
    const encryption = FileEncryption.make({ key: key() })
    const secret = JSON.stringify(value)
    const content = encryption.seal(place, secret)
    expect(encryption.open(place, content)).toEqual(Result.succeed(secret))
    expect(encryption.seal(place, secret)).not.toBe(content)
    expect(encryption.isCurrent(content)).toBe(true)
  })

  it("shows nothing of the secret but its length", () => {
    const content = FileEncryption.make({ key: key() }).seal(place, "canary".repeat(10))
    const envelope = JSON.parse(content)
    expect(Object.keys(envelope)).toEqual(["format", "version", "keyId", "nonce", "data"])
    expect(Buffer.from(envelope.data, "base64").length).toBe(60 + 16)
    expect(Buffer.from(envelope.data, "base64").toString("latin1")).not.toContain("canary")
  })

  it("opens nothing in another secret's place", () => {
    const encryption = FileEncryption.make({ key: key() })
    const content = encryption.seal(place, "secret")
    for (const other of ["", "Other/ApiKeys/UsernamePassword/00", "Credentials/ApiKeys/UsernamePassword/01"]) {
      expect(failureOf(encryption.open(other, content))).toBe("was changed, or belongs to another secret")
    }
  })

  it("opens nothing that was changed anywhere", () => {
    const mine = key()
    const encryption = FileEncryption.make({ key: mine, formerKeys: [key()] })
    const content = encryption.seal(place, "secret")
    const flip = (text: string, at: number) =>
      text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ 1) + text.slice(at + 1)
    for (let at = 0; at < content.length; at++)
      expect(failureOf(encryption.open(place, flip(content, at)))).not.toBe("opened")
    for (let length = 0; length < content.length; length++) {
      expect(failureOf(encryption.open(place, content.slice(0, length)))).not.toBe("opened")
    }
    const { data, ...rest } = JSON.parse(content)
    for (const change of [{ data: "" }, { data, nonce: "" }, { data, version: 2 }, { data, keyId: key().id }]) {
      expect(failureOf(encryption.open(place, JSON.stringify({ ...rest, ...change })))).not.toBe("opened")
    }
  })

  it("reads what former keys encrypted, and tells it from what is current", () => {
    const [old, current] = [key(), key()]
    const content = FileEncryption.make({ key: old }).seal(place, "secret")
    const rotating = FileEncryption.make({ key: current, formerKeys: [key(), old] })
    expect(rotating.open(place, content)).toEqual(Result.succeed("secret"))
    expect(rotating.isCurrent(content)).toBe(false)
    expect(failureOf(FileEncryption.make({ key: current }).open(place, content))).toBe(
      `is encrypted with the key ${old.id}, and the keys at hand are ${current.id}`
    )
  })

  it("reads plain files only where it is told to, and without a key no encrypted ones", () => {
    const mine = key()
    expect(failureOf(FileEncryption.make({ key: mine }).open(place, "{}"))).toContain("is not encrypted")
    const moving = FileEncryption.make({ key: mine, acceptPlainFiles: true })
    expect(moving.open(place, "{}")).toEqual(Result.succeed("{}"))
    expect([moving.isCurrent("{}"), FileEncryption.none.isCurrent("{}")]).toEqual([false, true])
    const content = moving.seal(place, "secret")
    expect(failureOf(FileEncryption.none.open(place, content))).toBe("is encrypted, and there is no encryption key")
    expect(FileEncryption.none.isCurrent(content)).toBe(false)
  })
})
