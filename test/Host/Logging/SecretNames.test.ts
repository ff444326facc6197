import { assert, describe, it } from "@effect/vitest"
import { isSecretName, maskQuery, maskUrl } from "../../../src/Host/Logging/SecretNames.ts"

describe("SecretNames", () => {
  for (const name of [
    "password",
    "userPassword",
    "PASSWORD_HASH",
    "passwd",
    "db_pwd",
    "passphrase",
    "secret",
    "clientSecret",
    "secretKey",
    "token",
    "accessToken",
    "X-Vault-Token",
    "tokens",
    "apiKey",
    "api_key",
    "x-api-key",
    "APIKEY",
    "privateKey",
    "authorization",
    "Proxy-Authorization",
    "cookie",
    "Set-Cookie",
    "seed",
    "totpSeed"
  ]) {
    it(`${name} names a secret`, () => assert.isTrue(isSecretName(name)))
  }
  for (const name of [
    "user",
    "key",
    "id",
    "secret.bucket",
    "secret.key",
    "secret.type",
    "secretstore",
    "tokenCount",
    "passwordLength",
    "path",
    ""
  ]) {
    it(`${name === "" ? "an empty name" : name} does not`, () => assert.isFalse(isSecretName(name)))
  }

  it("masks a URL's password and its query values of secret names only", () => {
    assert.strictEqual(
      maskUrl(new URL("https://ann:canary@host:1/p?a=1&access_token=canary&access_token=canary#f")),
      "https://ann:redacted@host:1/p?a=1&access_token=redacted&access_token=redacted#f"
    )
  })

  for (const [query, expected] of [
    ["", ""],
    ["a=1&b", "a=1&b"],
    ["?token=canary&a=b=c&password=", "?token=redacted&a=b=c&password="],
    ["api%5Fkey=canary&pass%77ord=canary", "api%5Fkey=redacted&pass%77ord=redacted"],
    ["api+key=canary=canary", "api+key=redacted"],
    ["%zz=canary", "%zz=redacted"]
  ] as const) {
    it(`masks the query "${query}"`, () => assert.strictEqual(maskQuery(query), expected))
  }
})
