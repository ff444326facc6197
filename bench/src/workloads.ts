/** The five requests, and what their answers hold whoever gives them. */
import { confirm, item, items, type Order } from "./peers/service.ts"

export interface Workload {
  readonly name: string
  readonly title: string
  readonly method: "GET" | "POST"
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  readonly status: number
  /** What must be the same in the answers of all: their JSON without what differs by nature. */
  readonly essence: (answer: any) => unknown
  readonly expected: unknown
}

const order = (changes: { readonly email?: string; readonly quantity?: number } = {}): Order => ({
  customer: "Ada",
  email: changes.email ?? "ada@example.org",
  note: "x".repeat(175),
  lines: Array.from({ length: 14 }, (_, i) => ({
    sku: `sku-${i}-abcdefgh`,
    quantity: i === 3 ? (changes.quantity ?? 4) : i + 1,
    price: 9.99
  }))
})

const get = { method: "GET", headers: {}, status: 200, essence: (answer: unknown) => answer } as const
const post = { method: "POST", path: "/orders", headers: { "content-type": "application/json" } } as const

export const workloads: ReadonlyArray<Workload> = [
  { ...get, name: "W1", title: "GET small", path: "/items/42", expected: item("42") },
  {
    ...post,
    name: "W2",
    title: "POST 1 kB, validated",
    body: JSON.stringify(order()),
    status: 200,
    essence: (answer) => answer,
    expected: confirm(order())
  },
  {
    ...get,
    name: "W3",
    title: "GET 20 kB, compressed",
    path: "/items",
    headers: { "accept-encoding": "gzip, br" },
    expected: items
  },
  {
    ...get,
    name: "W4",
    title: "health, 3 checks",
    path: "/health/dependencies",
    essence: ({ status, entries }) => [status, entries.map(({ name, status }: any) => [name, status])],
    expected: ["Healthy", ["a", "b", "c"].map((name) => [name, "Healthy"])]
  },
  {
    ...post,
    name: "W5",
    title: "POST 1 kB, invalid",
    body: JSON.stringify(order({ email: "nope", quantity: 0 })),
    status: 400,
    essence: ({ title, validationErrors }) => [title, validationErrors.map(({ field }: any) => field)],
    expected: ["Bad Request", ["email", "lines.3.quantity"]]
  }
]

/** Every request comes through a proxy, from a page. */
const common = { accept: "application/json", origin: "https://example.org", "x-forwarded-for": "203.0.113.7" }

export const headersOf = ({ headers, body }: Workload): Record<string, string> => ({
  ...common,
  ...headers,
  ...(body !== undefined && { "content-length": String(Buffer.byteLength(body)) })
})

/** The bytes of a request. */
export const bytesOf = (workload: Workload): Buffer => {
  const { method, path, body = "" } = workload
  const headers = Object.entries({ host: "127.0.0.1", ...headersOf(workload) }).map(
    ([name, value]) => `${name}: ${value}`
  )
  return Buffer.from([`${method} ${path} HTTP/1.1`, ...headers, "", body].join("\r\n"))
}
