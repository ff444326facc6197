/** The TOTP engine. */
import { createHmac } from "node:crypto"
import { absent, data, type Engine, errors, type Flavour, nothing, type Reply } from "./Reply.ts"

interface Key {
  readonly key: string
  readonly issuer: string
  readonly account_name: string
  readonly period: number
  readonly algorithm: string
  readonly digits: number
}

export type Keys = Map<string, Key>

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"

const codeOf = ({ key, period }: Key, seconds: number): string => {
  const bits = Array.from(key.toUpperCase(), (digit) => alphabet.indexOf(digit).toString(2).padStart(5, "0")).join("")
  const bytes = bits.match(/.{8}/g)!.map((byte) => Number.parseInt(byte, 2))
  const counter = Buffer.alloc(8)
  counter.writeUInt32BE(Math.floor(seconds / period), 4)
  const hash = createHmac("sha1", Buffer.from(bytes)).update(counter).digest()
  return String((hash.readUInt32BE(hash[19]! & 15) & 0x7fffffff) % 1_000_000).padStart(6, "0")
}

export const make = (mount: string, keys: Keys, flavour: Flavour, now: () => number): Engine => {
  const put = (name: string, body: Record<string, unknown>): Reply => {
    const {
      account_name = "",
      algorithm = "SHA1",
      digits = 6,
      issuer = "",
      key = "",
      period = 30
    } = body as Partial<Key>
    if (key === "") return errors(400, "the key value is required")
    const illegal = /[^a-z2-7]/i.exec(key)
    if (illegal !== null) return errors(400, `invalid key value: illegal base32 data at input byte ${illegal.index}`)
    if (algorithm !== "SHA1" || digits !== 6) return errors(400, "the stand-in makes 6 digits by SHA1")
    keys.set(name, { key, issuer, account_name, period, algorithm, digits })
    return nothing
  }

  const code = (key: Key): Reply => {
    const seconds = Math.floor(now() / 1000)
    const end = (Math.floor(seconds / key.period) + 1) * key.period
    const times = { generated: seconds, expire_time: end, period: `${key.period}s` }
    return data({ code: codeOf(key, seconds), ...(flavour.timesCodes && times) })
  }

  return ({ body, method, path, query }) => {
    const [, kind, name] = new RegExp(`^${mount}/(keys|code)(?:/(.*))?$`).exec(path) ?? []
    if (kind === undefined) return undefined
    if (name === undefined) {
      return query.get("list") === "true" && keys.size > 0 ? data({ keys: [...keys.keys()].toSorted() }) : absent
    }
    const key = keys.get(name)
    switch (`${method} ${kind}`) {
      case "POST keys":
        return put(name, body)
      case "GET keys": {
        if (key === undefined) return absent
        const { key: _, ...shown } = key
        return data(shown)
      }
      case "DELETE keys":
        keys.delete(name)
        return nothing
      case "GET code":
        return key === undefined ? errors(400, `unknown key: ${name}`) : code(key)
    }
    return errors(405, "1 error occurred:\n\t* unsupported operation\n\n")
  }
}
