/** What every peer serves, so that they differ in nothing but how. */

/** Where a peer listens; the one who starts it chooses. */
export const port = Number(process.env["PORT"])

export interface Item {
  readonly id: string
  readonly name: string
  readonly price: number
  readonly tags: ReadonlyArray<string>
}

export interface Order {
  readonly customer: string
  readonly email: string
  readonly note: string
  readonly lines: ReadonlyArray<{ readonly sku: string; readonly quantity: number; readonly price: number }>
}

export const item = (id: string): Item => ({ id, name: `Item ${id}`, price: 12.5, tags: ["a", "b"] })

/** 20 kB of JSON. */
export const items: ReadonlyArray<Item> = Array.from({ length: 340 }, (_, i) => item(String(i)))

export const confirm = ({ lines }: Pick<Order, "lines">) => ({
  id: "1",
  total: lines.reduce((sum, { quantity, price }) => sum + quantity * price, 0)
})

export const emailPattern = /^[^@\s]+@[^@\s]+$/

/** The origin that may read answers. */
export const allowedOrigin = "https://example.org"

/** A limit that is counted and never reached. */
export const limit = { max: 1_000_000_000, periodMillis: 3_600_000 }

/** Bodies of fewer bytes are not compressed; Brotli of quality 1, gzip of level 1. */
export const compression = { minimumSize: 1024, brotliQuality: 1, gzipLevel: 1 }

const checks: ReadonlyArray<{ readonly name: string; readonly run: () => Promise<"Healthy"> }> = ["a", "b", "c"].map(
  (name) => ({ name, run: async () => "Healthy" })
)

/** Runs three checks that find nothing wrong, and tells how long each took. */
export const health = async () => {
  const begun = performance.now()
  const entries = await Promise.all(
    checks.map(async ({ name, run }) => {
      const begun = performance.now()
      const status = await run()
      const duration = format(performance.now() - begun)
      return { name, status, description: null, tags: ["dependencies"], duration, exceptionMessage: null }
    })
  )
  return { status: "Healthy", totalDuration: format(performance.now() - begun), entries }
}

const format = (millis: number): string => new Date(millis).toISOString().slice(11, 23)

export interface InvalidField {
  readonly field: string
  readonly validationMessage: string
}

/** The answer to a request that is not valid. */
export const problem = (validationErrors: ReadonlyArray<InvalidField>, requestId?: string) => ({
  type: "about:blank",
  title: "Bad Request",
  status: 400,
  detail: "The request is not valid.",
  timestamp: new Date().toISOString(),
  requestId,
  validationErrors
})
