/** The service on Fastify: routes with schemas of what comes and goes. */
import type { FastifyInstance, FastifyServerOptions } from "fastify"
import { Confirmation, Health, invalidFields, Item, Items, Order } from "./jsonSchemas.ts"
import { confirm, health, item, items, type Order as OrderType, problem } from "../service.ts"

/** All invalid fields are told, as the other peers do. */
export const options: FastifyServerOptions = { ajv: { customOptions: { allErrors: true } } }

export const addRoutes = (app: FastifyInstance): void => {
  app.setErrorHandler<Error & { validation?: ReadonlyArray<{ instancePath: string; message?: string }> }>(
    (error, request, reply) => {
      if (error.validation === undefined) return reply.send(error)
      return reply
        .code(400)
        .type("application/problem+json")
        .send(JSON.stringify(problem(invalidFields(error.validation), request.id)))
    }
  )
  app.get<{ Params: { id: string } }>("/items/:id", { schema: { response: { 200: Item } } }, async ({ params }) =>
    item(params.id)
  )
  app.get("/items", { schema: { response: { 200: Items } } }, async () => items)
  app.post<{ Body: OrderType }>(
    "/orders",
    { schema: { body: Order, response: { 200: Confirmation } } },
    async ({ body }) => confirm(body)
  )
  app.get("/health/dependencies", { schema: { response: { 200: Health } } }, health)
}
