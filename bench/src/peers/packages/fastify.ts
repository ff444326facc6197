/** Fastify with its routes and schemas, and no plugin. */
import Fastify from "fastify"
import { addRoutes, options } from "./fastifyRoutes.ts"
import { port } from "../service.ts"

const app = Fastify(options)
addRoutes(app)
await app.listen({ port, host: "127.0.0.1" })
