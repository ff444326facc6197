/**
 * `otpauth://` URIs, the form in which a QR code carries a seed to an authenticator app.
 */
import * as Result from "effect/Result"

/** Whether a text is meant to be a URI. */
export const isUri = (text: string): boolean => /^\s*otpauth:/i.test(text)

/**
 * The seed in a text: that of a URI, else the text itself. Fails, with what was expected, for a URI whose codes would not
 * be those that this store makes: of other digits or another algorithm, and, where the period is given in seconds, of another
 * period.
 */
export const seedOf = (text: string, periodInSeconds?: number): Result.Result<string, string> => {
  if (!isUri(text)) return Result.succeed(text)
  const uri = URL.parse(text.trim())
  const parameters = uri?.searchParams
  if (uri?.host.toLowerCase() !== "totp") return Result.fail("Expected an otpauth URI that begins with otpauth://totp/")
  for (const [name, only] of expected) {
    const value = parameters?.get(name) ?? only
    if (value.toUpperCase() !== only) return Result.fail(`Expected an otpauth URI whose ${name}, if any, is ${only}`)
  }
  const period = parameters?.get("period") ?? defaultPeriod
  if (!/^[1-9]\d{0,4}$/.test(period)) return Result.fail("Expected an otpauth URI whose period, if any, is in seconds")
  if (periodInSeconds !== undefined && Number(period) !== periodInSeconds) {
    return Result.fail(
      `Expected an otpauth URI whose period, ${defaultPeriod} where it says none, is ${periodInSeconds}`
    )
  }
  return Result.succeed(parameters?.get("secret") ?? "")
}

/** Other values mean other codes. They are the defaults, so most URIs leave them out. */
const expected = [
  ["algorithm", "SHA1"],
  ["digits", "6"]
] as const

/** What a URI means that says no period. */
const defaultPeriod = "30"
