/** Requests of all sorts to the API of `everything.ts`: what it takes, what it nearly takes, and what nobody would send. */
import * as Arbitrary from "effect/Arbitrary"
import * as Schema from "effect/Schema"
import * as YAML from "yaml"
import { json } from "../../Http/support/arbitraries.ts"

/** A request, as data that tells what failed. */
export interface Sent {
  readonly path: string
  readonly init: { readonly method: string; readonly headers: Record<string, string>; readonly body?: string }
}

const oneOf = (values: ReadonlyArray<string>) => Arbitrary.schema(Schema.Literals(values))

const outcomes =
  "value invalid response conflict gone teapot unknown schema die throw interrupt async empty other".split(" ")
const each = (method: string, path: string, values: ReadonlyArray<string>) =>
  values.map((value) => `${method} ${path}/${value}`)

const targets = [
  ...each("GET", "/path", ["1/2026-01-02", "1.5/2026-01-02T03:04:05Z", "x/2026-01-02", "99999/never", "%20/%2F", "1"]),
  "GET /query",
  "GET /headers",
  ...each("PUT", "/all", ["1", "x", "1e3", "%00"]),
  ...[
    "class",
    "tree",
    "union",
    "several",
    "optional",
    "nullable",
    "text",
    "form",
    "mixed",
    "multipart",
    "again",
    "raw"
  ].map((name) => `POST /${name}`),
  "PATCH /strict",
  "PATCH /patient",
  ...each("POST", "/slow", ["id", "%20"]),
  ...each("GET", "/slow-answer", ["id", "%20"]),
  "GET /search",
  ...each("GET", "/outcome", outcomes),
  ...each("POST", "/outcome", outcomes),
  ...each("GET", "/quiet", outcomes),
  ...each("GET", "/maybe", ["none", "some"]),
  ...each("GET", "/either", ["1", "", "two"]),
  ...each("GET", "/hook", ["teapot", "fine"]),
  ...each("GET", "/health", ["own", "broken", "OWN", "nobody"]),
  ...each("GET", "/router", ["a", "%C3%A9", "%ff"]),
  ..."nothing created csv hal with-headers ndjson sse any services cookie shadowed guarded earlier everything later absent"
    .split(" ")
    .map((name) => `GET /${name}`),
  "HEAD /query",
  "HEAD /services",
  "HEAD /health/own",
  "POST /health/own",
  "OPTIONS /class",
  "DELETE /class",
  "POST /logs"
]

const item = { name: "a", count: 1, tags: ["x", "y"] }
const samples: ReadonlyArray<Schema.Json> = [
  item,
  item,
  item,
  { ...item, extra: 1 },
  { ...item, name: "" },
  { name: "", count: 1.5, tags: [1, 2] },
  { kind: "circle", radius: 2 },
  { kind: "circle", radius: -2 },
  { kind: "square", side: 2 },
  { value: 1, children: [{ value: 2, children: [] }] },
  { value: 1, children: [{ value: "2", children: [] }] },
  { name: "Ada", born: "1815-12-10" },
  { name: "Ada", born: "1815-12-10", email: "ada@example.com" },
  { name: "Ada", born: "long ago", email: "ada" },
  { text: "some text" },
  { text: "  " },
  { count: "1", names: ["a"] },
  null,
  "text",
  []
]
const texts = [
  "",
  " ",
  "{",
  '{"name":"a","name":"b"}',
  '{"__proto__":{"name":"a"},"count":1}',
  "count=1&names=a",
  "a: [b",
  "--b--"
]

const body = Arbitrary.map(
  Arbitrary.all({
    sort: oneOf(["sample", "sample", "sample", "json", "text"]),
    sample: Arbitrary.schema(Schema.Literals(samples.map((sample) => JSON.stringify(sample)))),
    json,
    text: oneOf(texts)
  }),
  ({ json, sample, sort, text }): { readonly text: string } | { readonly json: Schema.Json } =>
    sort === "text" ? { text } : { json: sort === "json" ? json : (JSON.parse(sample) as Schema.Json) }
)

const types = [
  "application/json",
  "application/json",
  "application/json; charset=utf-8",
  "Application/JSON",
  "application/yaml",
  "application/yaml",
  "application/x-www-form-urlencoded",
  "multipart/form-data; boundary=b",
  "text/plain",
  "application/hal+json",
  "none"
]

/** Any request. */
export const requests: Arbitrary.Arbitrary<Sent> = Arbitrary.map(
  Arbitrary.all({
    target: oneOf(targets),
    query: oneOf([
      "",
      "?page=1",
      "?page=1",
      "?page=x",
      "?page=1&page=2",
      "?tags=a&tags=b&page=3&flag=on",
      "?tags=&flag=no",
      "?%ff=%00&page"
    ]),
    type: oneOf(types),
    accept: oneOf(["*/*", "*/*", "application/json", "application/yaml", "text/html", "text/csv"]),
    level: oneOf(["1", "1", "high", "none"]),
    note: oneOf(["", "note", "none"]),
    token: oneOf(["none", "Bearer sesame", "Bearer wrong"]),
    body
  }),
  ({ accept, body, level, note, query, target, token, type }): Sent => {
    const [method, path] = target.split(" ") as [string, string]
    const hasBody = method !== "GET" && method !== "HEAD" && method !== "OPTIONS"
    const headers = {
      accept,
      "content-type": type,
      "x-level": level,
      "x-note": note,
      authorization: token,
      "x-request-id": "the-request",
      traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    }
    const text =
      "text" in body ? body.text : type.includes("yaml") ? YAML.stringify(body.json) : JSON.stringify(body.json)
    return {
      path: path + query,
      init: {
        method,
        headers: Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== "none")),
        ...(hasBody ? { body: text } : undefined)
      }
    }
  }
)
