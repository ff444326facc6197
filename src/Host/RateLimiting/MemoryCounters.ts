/**
 * Counts requests in the memory of this process: 28 MiB, however many clients there are.
 *
 * A table of 1,048,576 counters, in sets of 16. A secret hash of client and endpoint says in which set a counter stands,
 * so that nobody can choose it. A new counter takes a place that is free or whose window has ended. Where its set has
 * none, which begins to happen with half a million live counters, it takes that of
 *
 * 1. the least used counter of the same client, and goes on from its use: whoever crowds the table with endpoints only
 *    runs into their own limit;
 * 2. else the least used counter of the set, and starts at nothing; of counters used alike, the one that ends first.
 *
 * "Used" is the share of its limit that a counter has spent. So a flood of clients displaces other clients of the flood,
 * and a counter at its limit makes way for another client only where all 16 of its set are at theirs. To free one client of
 * its limit, an attacker has to fill the whole table with counters at their limits, and then to send, for every single
 * time, from a client that has none there yet, about as many requests as there are sets. The requests that all these
 * clients are allowed anyway are more than what is gained. Nor does the flood keep anybody out: a client whose counter was
 * displaced may do more, not less.
 */
import * as Effect from "effect/Effect"
import { hash, randomBytes, randomInt } from "node:crypto"
import * as Memo from "../Memo.ts"
import type { Count, Counted, CounterStore, CounterStoreOptions } from "./CounterStore.ts"
import type { Rule } from "./Rule.ts"

const setSize = 16

/** As far as a counter counts. */
const mostRequests = 0xffff_ffff

/** The number of sets unless told otherwise; a power of two. */
const defaultSets = 65_536

/** Makes an empty table. Its pages take up memory once they are used. */
export const make = (options: CounterStoreOptions & { readonly sets?: number }): CounterStore => {
  const table = new CounterTable(options.sets ?? defaultSets, options.stackBlockedRequests)
  return { count: (counted, now) => Effect.succeed(table.count(counted, now)) }
}

class CounterTable {
  readonly #sets: number
  readonly #stackBlockedRequests: boolean
  readonly #secret = randomBytes(16).toString("hex")
  /** Two words of a secret hash. */
  readonly #wordsOf = Memo.make((text: string) => {
    const digest = hash("sha256", `${this.#secret}${text}`, "latin1")
    return { high: wordAt(digest, 0), low: wordAt(digest, 4) }
  })
  readonly #ownerSeed = randomInt(2 ** 32 - 1)

  // A counter is its place in these: 28 bytes together.
  readonly #high: Int32Array
  readonly #low: Int32Array
  readonly #owner: Int32Array
  readonly #requests: Uint32Array
  readonly #limit: Uint32Array
  /** When the window ends; 0 where there was none yet. */
  readonly #end: Float64Array

  /** The places of the counters of the request at hand. */
  readonly #places: Array<number> = []

  constructor(sets: number, stackBlockedRequests: boolean) {
    const size = sets * setSize
    this.#sets = sets
    this.#stackBlockedRequests = stackBlockedRequests
    this.#high = new Int32Array(size)
    this.#low = new Int32Array(size)
    this.#owner = new Int32Array(size)
    this.#requests = new Uint32Array(size)
    this.#limit = new Uint32Array(size)
    this.#end = new Float64Array(size)
  }

  count({ client, endpoint, rules }: Counted, now: number): Count {
    // The name of a client has no space in it.
    const { high, low } = this.#wordsOf(endpoint === "*" ? client : `${client} ${endpoint}`)
    const places = this.#places
    places.length = 0

    let refusing = -1
    for (let i = 0; i < rules.length; i++) {
      const rule = rules[i]!
      const place = this.#find(high, lowOf(low, rule), rule, now)
      places[i] = place
      if (place >= 0 && this.#isFull(place, rule) && this.#endsLater(place, refusing, places)) refusing = i
    }
    if (refusing < 0 || this.#stackBlockedRequests) {
      for (let i = 0; i < rules.length; i++) {
        const rule = rules[i]!
        if (places[i]! >= 0) continue
        const place = this.#open(high, lowOf(low, rule), this.#ownerOf(client), rule, now)
        places[i] = place
        if (this.#isFull(place, rule) && this.#endsLater(place, refusing, places)) refusing = i
      }
    }
    if (refusing < 0 || this.#stackBlockedRequests) {
      for (const place of places) {
        if (this.#requests[place]! < mostRequests) this.#requests[place]!++
      }
    }
    const told = refusing < 0 ? rules.length - 1 : refusing
    const place = places[told]!
    const endsAt = this.#end[place]!
    return {
      isAllowed: refusing < 0,
      rule: rules[told]!,
      requests: this.#requests[place]!,
      endsIn: endsAt - now,
      endsAt
    }
  }

  #isFull(place: number, rule: Rule): boolean {
    return this.#requests[place]! >= rule.limit
  }

  #endsLater(place: number, refusing: number, places: ReadonlyArray<number>): boolean {
    return refusing < 0 || this.#end[place]! >= this.#end[places[refusing]!]!
  }

  /** The place of a counter whose window is open, or -1. */
  #find(high: number, low: number, rule: Rule, now: number): number {
    const first = (low & (this.#sets - 1)) * setSize
    for (let place = first; place < first + setSize; place++) {
      if (this.#low[place] === low && this.#high[place] === high) {
        const left = this.#end[place]! - now
        // A window that ends later than a period from now was opened before the clock was set back.
        return left > 0 && left <= rule.periodMillis ? place : -1
      }
    }
    return -1
  }

  /** Opens the window of a counter that has none. */
  #open(high: number, low: number, owner: number, rule: Rule, now: number): number {
    const place = this.#placeFor(high, low, owner, now)
    const inherits = this.#end[place]! > now && this.#owner[place] === owner && this.#low[place] !== low
    const limit = Math.min(rule.limit, mostRequests)
    const requests = inherits ? Math.ceil(this.#useOf(place) * limit) : 0
    this.#high[place] = high
    this.#low[place] = low
    this.#owner[place] = owner
    this.#requests[place] = requests
    this.#limit[place] = limit
    this.#end[place] = now + rule.periodMillis
    return place
  }

  /** Its own former place, else one that is free, else that of the counter to displace. */
  #placeFor(high: number, low: number, owner: number, now: number): number {
    const first = (low & (this.#sets - 1)) * setSize
    let free = -1
    let own = -1
    let any = -1
    for (let place = first; place < first + setSize; place++) {
      if (this.#low[place] === low && this.#high[place] === high) return place
      if (this.#end[place]! <= now) free = place
      else if (!this.#places.includes(place)) {
        if (this.#owner[place] === owner && this.#goesBefore(place, own)) own = place
        if (this.#goesBefore(place, any)) any = place
      }
    }
    return free >= 0 ? free : own >= 0 ? own : Math.max(any, first)
  }

  #goesBefore(place: number, other: number): boolean {
    if (other < 0) return true
    const difference = this.#useOf(place) - this.#useOf(other)
    return difference < 0 || (difference === 0 && this.#end[place]! < this.#end[other]!)
  }

  /** The share of its limit that a counter has spent. */
  #useOf(place: number): number {
    return Math.min(1, this.#requests[place]! / this.#limit[place]!)
  }

  /** A hash of the client alone. That two clients share one does no harm: they only share the rule for one client. */
  #ownerOf(client: string): number {
    let owner = this.#ownerSeed
    for (let i = 0; i < client.length; i++) owner = Math.imul(owner ^ client.charCodeAt(i), 0x01000193)
    return owner
  }
}

/** Counters of different periods stand apart. */
const lowOf = (low: number, rule: Rule): number => Math.imul(low ^ rule.periodMillis, 0x9e3779b1)

/** Four characters of a binary text as an integer. */
const wordAt = (text: string, at: number): number =>
  text.charCodeAt(at) |
  (text.charCodeAt(at + 1) << 8) |
  (text.charCodeAt(at + 2) << 16) |
  (text.charCodeAt(at + 3) << 24)
