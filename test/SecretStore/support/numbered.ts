/** Secrets that differ by a number, long enough that half of one is conceivable. */
import { login } from "./Credentials.ts"

export const numbered = (number: number) => login(`${number}:${"x".repeat(4000 + (number % 3000))}:${number}`)
