/** `node:http` with nothing around it: what one would write by hand for these five requests, and no more. */
import * as http from "node:http"
import * as zlib from "node:zlib"
import { compression, confirm, emailPattern, health, type InvalidField, item, items, port, problem } from "./service.ts"

const json = (response: http.ServerResponse, status: number, value: unknown, type = "application/json"): void => {
  const body = JSON.stringify(value)
  response.writeHead(status, { "content-type": type, "content-length": Buffer.byteLength(body) }).end(body)
}

const compressed = (response: http.ServerResponse, value: unknown): void => {
  const params = { [zlib.constants.BROTLI_PARAM_QUALITY]: compression.brotliQuality }
  const body = zlib.brotliCompressSync(JSON.stringify(value), { params })
  const headers = { "content-type": "application/json", "content-encoding": "br", vary: "Accept-Encoding" }
  response.writeHead(200, { ...headers, "content-length": body.length }).end(body)
}

const isText = (value: unknown, min = 0, max = Infinity): boolean =>
  typeof value === "string" && value.length >= min && value.length <= max

/** Every field of an order that is not valid. */
const invalidFields = (order: any): ReadonlyArray<InvalidField> => {
  const invalid: Array<InvalidField> = []
  const expect = (valid: boolean, field: string, validationMessage: string) => {
    if (!valid) invalid.push({ field, validationMessage })
  }
  expect(isText(order?.customer, 1, 100), "customer", "Expected 1 to 100 characters")
  expect(isText(order?.email) && emailPattern.test(order.email), "email", "Expected an address")
  expect(isText(order?.note), "note", "Expected a text")
  if (!Array.isArray(order?.lines)) return [...invalid, { field: "lines", validationMessage: "Expected a list" }]
  for (let i = 0; i < order.lines.length; i++) {
    const { sku, quantity, price } = order.lines[i] ?? {}
    expect(isText(sku, 1), `lines.${i}.sku`, "Expected a text")
    expect(Number.isInteger(quantity) && quantity >= 1 && quantity <= 1000, `lines.${i}.quantity`, "Expected 1 to 1000")
    expect(typeof price === "number" && price >= 0, `lines.${i}.price`, "Expected a number of at least 0")
  }
  return invalid
}

const takeOrder = (request: http.IncomingMessage, response: http.ServerResponse): void => {
  const chunks: Array<Buffer> = []
  request
    .on("data", (chunk: Buffer) => chunks.push(chunk))
    .on("end", () => {
      const order = JSON.parse(Buffer.concat(chunks).toString())
      const invalid = invalidFields(order)
      if (invalid.length > 0) json(response, 400, problem(invalid), "application/problem+json")
      else json(response, 200, confirm(order))
    })
}

http
  .createServer((request, response) => {
    const { method, url = "/" } = request
    if (method === "POST" && url === "/orders") takeOrder(request, response)
    else if (url === "/items") compressed(response, items)
    else if (url.startsWith("/items/")) json(response, 200, item(url.slice("/items/".length)))
    else if (url === "/health/dependencies") void health().then((report) => json(response, 200, report))
    else response.writeHead(404).end()
  })
  .listen(port, "127.0.0.1")
