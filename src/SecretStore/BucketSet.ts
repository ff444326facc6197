/**
 * Bucket sets: the named groups in which a service keeps its secrets.
 */
import * as Schema from "effect/Schema"

/**
 * A named set of buckets, each with a fixed number.
 *
 * The number stands in every id of the bucket, so it must never change or be given to another bucket; the order of the
 * buckets may. Both names stand in storage paths, so renaming one hides the secrets that were stored under it.
 */
export interface BucketSet<Bucket extends string = string> {
  readonly name: string
  readonly numbers: { readonly [B in Bucket]: number }
}

/** The names of a set's buckets. */
export type Bucket<Set extends BucketSet> = keyof Set["numbers"] & string

/** The highest bucket number: ids of every bucket then fit into 36 characters. */
export const maxNumber = 2 ** 31 - 1

/**
 * Makes a bucket set, and throws when a name or a number is unfit.
 *
 * Names are letters, digits, `_` and `-`, since they become directory names; two that differ only in case are one name on
 * some file systems, so they are refused too.
 *
 * @example
 * ```ts
 * const Credentials = BucketSet.make("Credentials", { ApiKeys: 0, DatabaseCredentials: 1, ServiceAccounts: 2 })
 * ```
 */
export const make = <const Bucket extends string>(
  name: string,
  numbers: { readonly [B in Bucket]: number }
): BucketSet<Bucket> => {
  const faults = [...nameFaults("the set", name), ...bucketFaults(numbers)]
  if (faults.length > 0) {
    throw new Error(`Bucket set ${JSON.stringify(name)} cannot be made: ${faults.join("; ")}`)
  }
  const set = Object.freeze({ name, numbers: Object.freeze({ ...numbers }) })
  sets.set(name, set)
  return set
}

const sets = new Map<string, BucketSet>()

/**
 * The sets that were made in this process, the last of each name: how `layerhost secrets` knows those of a service whose
 * plugins it has imported.
 */
export const made = (): ReadonlyArray<BucketSet> => [...sets.values()]

const nameFaults = (what: string, name: string): ReadonlyArray<string> =>
  /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(name)
    ? []
    : [`the name of ${what} must be 1 to 64 letters, digits, "_" or "-" and begin with a letter or digit`]

const bucketFaults = (numbers: { readonly [bucket: string]: number }): ReadonlyArray<string> => {
  const entries = Object.entries(numbers)
  const faults: Array<string> = entries.length === 0 ? ["it has no buckets"] : []
  const names = new Map<string, string>()
  const owners = new Map<number, string>()
  for (const [bucket, number] of entries) {
    faults.push(...nameFaults(`bucket ${JSON.stringify(bucket)}`, bucket))
    if (!Number.isInteger(number) || number < 0 || number > maxNumber) {
      faults.push(`the number of bucket "${bucket}" must be an integer from 0 to ${maxNumber}, not ${number}`)
    }
    const namesake = names.get(bucket.toLowerCase())
    if (namesake !== undefined) faults.push(`buckets "${namesake}" and "${bucket}" differ only in case`)
    const owner = owners.get(number)
    if (owner !== undefined) faults.push(`buckets "${owner}" and "${bucket}" have the same number ${number}`)
    names.set(bucket.toLowerCase(), bucket)
    owners.set(number, bucket)
  }
  return faults
}

/** The names of the buckets, in the order in which they were given. */
export const names = <Bucket extends string>(buckets: BucketSet<Bucket>): ReadonlyArray<Bucket> =>
  Object.keys(buckets.numbers) as Array<Bucket>

/** Whether a name is one of the set's buckets. */
export const has = <Bucket extends string>(buckets: BucketSet<Bucket>, bucket: unknown): bucket is Bucket =>
  typeof bucket === "string" && Object.hasOwn(buckets.numbers, bucket)

/** A Schema of the bucket names, for a path parameter or a field. */
export const schema = <Bucket extends string>(buckets: BucketSet<Bucket>): Schema.Literals<ReadonlyArray<Bucket>> =>
  Schema.Literals(names(buckets)).annotate({ expected: `a bucket of ${buckets.name}: ${names(buckets).join(", ")}` })
