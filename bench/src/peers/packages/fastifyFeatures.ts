/** What layerhost does around every request, out of Fastify's own plugins, prom-client and pino. */
import compress from "@fastify/compress"
import cors from "@fastify/cors"
import rateLimit from "@fastify/rate-limit"
import { LogController } from "fastify"
import type { FastifyBaseLogger, FastifyInstance, FastifyServerOptions } from "fastify"
import { constants } from "node:zlib"
import { log } from "./log.ts"
import { activeRequests, duration, registry } from "./metrics.ts"
import { allowedOrigin, compression, limit } from "../service.ts"

/** Fastify's own two lines for a request give way to one at its end, as the others write. */
export const options: FastifyServerOptions = {
  trustProxy: true,
  loggerInstance: log as FastifyBaseLogger,
  logController: new LogController({ disableRequestLogging: true }),
  requestIdHeader: "x-request-id",
  genReqId: () => crypto.randomUUID()
}

export const addFeatures = async (app: FastifyInstance): Promise<void> => {
  await app.register(cors, { origin: [allowedOrigin] })
  await app.register(compress, {
    global: true,
    threshold: compression.minimumSize,
    encodings: ["br", "gzip"],
    brotliOptions: { params: { [constants.BROTLI_PARAM_QUALITY]: compression.brotliQuality } },
    zlibOptions: { level: compression.gzipLevel }
  })
  await app.register(rateLimit, { max: limit.max, timeWindow: limit.periodMillis })
  app.addHook("onRequest", (request, reply, done) => {
    activeRequests.inc()
    reply.header("x-request-id", request.id)
    done()
  })
  app.addHook("onResponse", (request, reply, done) => {
    const { method, ip: clientAddress, routeOptions } = request
    const { statusCode: status, elapsedTime: durationMs } = reply
    const route = routeOptions.url ?? ""
    activeRequests.dec()
    duration.observe({ method, route, status }, durationMs / 1000)
    const bytes = reply.getHeader("content-length")
    request.log.info({ method, route, status, durationMs, clientAddress, bytes }, `${method} ${route} ${status}`)
    done()
  })
  app.get("/metrics", async (_, reply) => reply.type(registry.contentType).send(await registry.metrics()))
}
