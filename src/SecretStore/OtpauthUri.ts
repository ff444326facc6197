/**
 * `otpauth://` URIs, the form in which a QR code carries a seed to an authenticator app.
 */
import * as Result from "effect/Result"

/**
 * The seed in a text: that of a URI, else the text itself. Fails, with what was expected, for a URI whose codes would not
 * be those that this store makes.
 */
export const seedOf = (text: string): Result.Result<string, string> => {
  if (!/^\s*otpauth:/i.test(text)) return Result.succeed(text)
  const uri = URL.parse(text.trim())
  const parameters = uri?.searchParams
  if (uri?.host.toLowerCase() !== "totp") return Result.fail("Expected an otpauth URI that begins with otpauth://totp/")
  for (const [name, only] of expected) {
    const value = parameters?.get(name) ?? only
    if (value.toUpperCase() !== only) return Result.fail(`Expected an otpauth URI whose ${name}, if any, is ${only}`)
  }
  return Result.succeed(parameters?.get("secret") ?? "")
}

/** Other values mean other codes. They are the defaults, so most URIs leave them out. */
const expected = [
  ["algorithm", "SHA1"],
  ["digits", "6"],
  ["period", "30"]
] as const
