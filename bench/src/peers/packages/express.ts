/** Express with the features of layerhost's pipeline, and Ajv for what comes. */
import { Ajv } from "ajv"
import compress from "compression"
import cors from "cors"
import express from "express"
import { rateLimit } from "express-rate-limit"
import { constants } from "node:zlib"
import { invalidFields, Order } from "./jsonSchemas.ts"
import { log } from "./log.ts"
import { activeRequests, duration, registry } from "./metrics.ts"
import { allowedOrigin, compression, confirm, health, item, items, limit, port, problem } from "../service.ts"

const isOrder = new Ajv({ allErrors: true }).compile(Order)

const app = express().set("trust proxy", true).set("etag", false).disable("x-powered-by")

app.use((request, response, next) => {
  const begun = performance.now()
  const requestId = request.get("x-request-id") ?? crypto.randomUUID()
  response.locals["requestId"] = requestId
  response.setHeader("x-request-id", requestId)
  activeRequests.inc()
  response.on("finish", () => {
    const { method, ip: clientAddress } = request
    const { statusCode: status } = response
    const route = request.route?.path ?? ""
    const durationMs = performance.now() - begun
    activeRequests.dec()
    duration.observe({ method, route, status }, durationMs / 1000)
    const bytes = response.getHeader("content-length")
    log.info({ requestId, method, route, status, durationMs, clientAddress, bytes }, `${method} ${route} ${status}`)
  })
  next()
})
app.use(cors({ origin: [allowedOrigin] }))
app.use(
  compress({
    threshold: compression.minimumSize,
    level: compression.gzipLevel,
    brotli: { params: { [constants.BROTLI_PARAM_QUALITY]: compression.brotliQuality } }
  })
)
app.use(rateLimit({ limit: limit.max, windowMs: limit.periodMillis, validate: false }))
app.use(express.json())

app.get("/items/:id", ({ params }, response) => void response.json(item(params.id)))
app.get("/items", (_, response) => void response.json(items))
app.post("/orders", ({ body }, response) => {
  if (isOrder(body)) return void response.json(confirm(body as any))
  const { requestId } = response.locals
  response
    .status(400)
    .type("application/problem+json")
    .send(JSON.stringify(problem(invalidFields(isOrder.errors ?? []), requestId)))
})
app.get("/health/dependencies", async (_, response) => void response.json(await health()))
app.get("/metrics", async (_, response) => void response.type(registry.contentType).send(await registry.metrics()))

app.listen(port, "127.0.0.1")
