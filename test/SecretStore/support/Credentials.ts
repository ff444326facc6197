/** A bucket set with its storage, and one secret of each type, as the tests use them. */
import * as Redacted from "effect/Redacted"
import * as BucketSet from "../../../src/SecretStore/BucketSet.ts"
import type { SecretInput, UsernamePassword } from "../../../src/SecretStore/Secret.ts"
import * as SecretStorage from "../../../src/SecretStore/SecretStorage.ts"
import type { SecretType } from "../../../src/SecretStore/SecretType.ts"

export const Credentials = BucketSet.make("Credentials", { ApiKeys: 0, DatabaseCredentials: 1, ServiceAccounts: 2 })

export class CredentialStorage extends SecretStorage.Service<CredentialStorage>()(
  "test/CredentialStorage",
  Credentials
) {}

/** The seed of RFC 6238's test vectors. */
export const seed = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"

export const pem = "-----BEGIN CERTIFICATE-----\nMIIBcanaryCERT\n-----END CERTIFICATE-----\n"

export const login = (password: string): UsernamePassword => ({
  type: "UsernamePassword",
  username: "ada",
  password: Redacted.make(password)
})

export const samples = {
  UsernamePassword: login("canary-password"),
  UsernamePasswordApiKey: {
    type: "UsernamePasswordApiKey",
    username: "ada",
    password: Redacted.make("canary-password"),
    apiKey: Redacted.make("canary-apikey")
  },
  UsernamePasswordTotp: {
    type: "UsernamePasswordTotp",
    username: "ada",
    password: Redacted.make("canary-password"),
    totp: { totpKey: { base32Key: Redacted.make(seed) } }
  },
  Certificate: {
    type: "Certificate",
    certificate: Redacted.make(pem),
    passphrase: Redacted.make("canary-passphrase")
  }
} satisfies { readonly [T in SecretType]: SecretInput & { readonly type: T } }
