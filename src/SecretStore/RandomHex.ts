/**
 * Random hexadecimal digits from the system's cryptographic source, drawn in advance for many names at once, as
 * `crypto.randomUUID` does: each visit of the source costs more than all the rest of an id.
 */
import { randomFillSync } from "node:crypto"

const pool = Buffer.alloc(4096)
let used = pool.length

/** Two digits for each of so many random bytes, which nobody gets a second time. */
export const make = (bytes: number): string => {
  if (used + bytes > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += bytes
  return pool.toString("hex", used - bytes, used)
}
