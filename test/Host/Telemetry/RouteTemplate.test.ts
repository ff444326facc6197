import { expect, it } from "@effect/vitest"
import * as RouteTemplate from "../../../src/Host/Telemetry/RouteTemplate.ts"

it.each([
  ["/", "/"],
  ["/items/:id", "/items/{id}"],
  ["/:a/b/:c_1", "/{a}/b/{c_1}"],
  ["/items/:id(\\d+)", "/items/{id}"],
  ["/items/:id((?:a|b)+)/x", "/items/{id}/x"],
  ["/items/:id?", "/items/{id}"],
  ["/files/*", "/files/*"],
  ["/:from-:to", "/{from}-{to}"]
])("The template of %s is %s", (path, template) => {
  expect(RouteTemplate.fromPath(path)).toBe(template)
})
