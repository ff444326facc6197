/** The schemas of the service, for the peers that take JSON Schema. */
import type { ErrorObject } from "ajv"
import { emailPattern, type InvalidField } from "../service.ts"

const object = (properties: Record<string, object>) => ({
  type: "object",
  properties,
  required: Object.keys(properties)
})

export const Item = object({
  id: { type: "string" },
  name: { type: "string" },
  price: { type: "number" },
  tags: { type: "array", items: { type: "string" } }
})

export const Items = { type: "array", items: Item }

export const Order = object({
  customer: { type: "string", minLength: 1, maxLength: 100 },
  email: { type: "string", pattern: emailPattern.source },
  note: { type: "string" },
  lines: {
    type: "array",
    items: object({
      sku: { type: "string", minLength: 1 },
      quantity: { type: "integer", minimum: 1, maximum: 1000 },
      price: { type: "number", minimum: 0 }
    })
  }
})

export const Confirmation = object({ id: { type: "string" }, total: { type: "number" } })

const text = { type: "string" }
const nullable = { type: ["string", "null"] }

export const Health = object({
  status: text,
  totalDuration: text,
  entries: {
    type: "array",
    items: object({
      name: text,
      status: text,
      description: nullable,
      tags: { type: "array", items: text },
      duration: text,
      exceptionMessage: nullable
    })
  }
})

/** What the validator found, as `lines.3.quantity`. */
export const invalidFields = (errors: ReadonlyArray<Pick<ErrorObject, "instancePath" | "message">>) =>
  errors.map(({ instancePath, message = "" }): InvalidField => ({
    field: instancePath.slice(1).replaceAll("/", "."),
    validationMessage: message
  }))
