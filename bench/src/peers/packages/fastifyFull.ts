/** Fastify with the features of layerhost's pipeline. */
import Fastify from "fastify"
import * as Features from "./fastifyFeatures.ts"
import * as Routes from "./fastifyRoutes.ts"
import { port } from "../service.ts"

const app = Fastify({ ...Routes.options, ...Features.options })
await Features.addFeatures(app)
Routes.addRoutes(app)
await app.listen({ port, host: "127.0.0.1" })
