import { Validator } from "@seriousme/openapi-schema-validator"
import { describe, expect, it } from "@effect/vitest"
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiError from "effect/http-api/HttpApiError"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as HttpApiSecurity from "effect/http-api/HttpApiSecurity"
import * as OpenApi from "effect/http-api/OpenApi"
import * as Schema from "effect/Schema"
import { mergeOf } from "./apis.ts"

/** An API with one group of one or more endpoints. */
const api = (endpoint: HttpApiEndpoint.Constraint, ...more: ReadonlyArray<HttpApiEndpoint.Constraint>) =>
  HttpApi.make("api").add(HttpApiGroup.make("things").add(endpoint, ...more))

const get = (id: string, path: `/${string}`, success: Schema.Top = Schema.String) =>
  HttpApiEndpoint.get(id, path, { success: success as Schema.Codec<unknown> })

/** An API whose document is what is written here: for what Effect's own declarations cannot say. */
const written = (document: Record<string, unknown>) => HttpApi.make("api").annotate(OpenApi.Transform, () => document)

const named = (name: string, fields: Schema.Struct.Fields) => Schema.Struct(fields).annotate({ identifier: name })

const refOf = (operation: any): string => operation.responses[200].content["application/json"].schema.$ref

const problemContent = {
  "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } },
  "application/problem+yaml": { schema: { $ref: "#/components/schemas/Problem" } }
}

/** Every `$ref` of the document, as text. */
const refsOf = (document: unknown): ReadonlyArray<string> =>
  Array.from(JSON.stringify(document).matchAll(/"\$ref":"#\/([^"]+)"/g), ([, ref]) => ref!)

const expectValid = async (document: any) => {
  expect(await new Validator().validate(structuredClone(document))).toEqual({ valid: true })
  for (const ref of refsOf(document)) {
    expect(
      ref.split("/").reduce((value, key) => value?.[key], document),
      ref
    ).toBeDefined()
  }
  const ids = Object.values<any>(document.paths).flatMap((item) => Object.values<any>(item).map((op) => op.operationId))
  expect(new Set(ids).size).toBe(ids.length)
}

describe("a small document", () => {
  class Bearer extends HttpApiMiddleware.Service<Bearer>()("Bearer", {
    security: { bearer: HttpApiSecurity.bearer }
  }) {}

  const orders = HttpApi.make("orders").add(
    HttpApiGroup.make("orders")
      .add(
        HttpApiEndpoint.post("createOrder", "/orders/:customer", {
          params: { customer: Schema.String },
          payload: Schema.Struct({ note: Schema.String }),
          success: named("Order", { id: Schema.String }).pipe(HttpApiSchema.status(201)),
          error: HttpApiError.NotFoundNoContent
        })
      )
      .annotateMerge(OpenApi.annotations({ description: "What customers buy." }))
      .middleware(Bearer)
  )

  it("is merged as a whole", async () => {
    const document = mergeOf([["orders", orders]])
    await expectValid(document)
    expect(document).toMatchInlineSnapshot(`
      {
        "components": {
          "responses": {
            "InvalidRequest": {
              "content": {
                "application/problem+json": {
                  "schema": {
                    "$ref": "#/components/schemas/Problem",
                  },
                },
                "application/problem+yaml": {
                  "schema": {
                    "$ref": "#/components/schemas/Problem",
                  },
                },
              },
              "description": "The request is invalid.",
            },
            "Problem": {
              "content": {
                "application/problem+json": {
                  "schema": {
                    "$ref": "#/components/schemas/Problem",
                  },
                },
                "application/problem+yaml": {
                  "schema": {
                    "$ref": "#/components/schemas/Problem",
                  },
                },
              },
              "description": "The request failed.",
            },
          },
          "schemas": {
            "Order": {
              "additionalProperties": false,
              "properties": {
                "id": {
                  "type": "string",
                },
              },
              "required": [
                "id",
              ],
              "type": "object",
            },
            "Problem": {
              "description": "Problem details (RFC 9457): what every error answer of the service looks like.",
              "properties": {
                "detail": {
                  "description": "What went wrong this time.",
                  "type": "string",
                },
                "instance": {
                  "description": "A URI that identifies this occurrence.",
                  "type": "string",
                },
                "requestId": {
                  "description": "The request's id, as in \`X-Request-Id\` and in the service's log.",
                  "type": "string",
                },
                "status": {
                  "description": "The HTTP status.",
                  "type": "integer",
                },
                "timestamp": {
                  "description": "When it happened, in UTC.",
                  "format": "date-time",
                  "type": "string",
                },
                "title": {
                  "description": "The kind of problem in a few words.",
                  "type": "string",
                },
                "type": {
                  "description": "A URI that identifies the kind of problem; \`about:blank\` when the status says it all.",
                  "type": "string",
                },
                "validationErrors": {
                  "description": "Every invalid field of the path, the query, the headers and the body.",
                  "items": {
                    "properties": {
                      "field": {
                        "description": "The field's path, joined by dots.",
                        "type": "string",
                      },
                      "validationMessage": {
                        "description": "What was expected of it.",
                        "type": "string",
                      },
                    },
                    "required": [
                      "field",
                      "validationMessage",
                    ],
                    "type": "object",
                  },
                  "type": "array",
                },
              },
              "required": [
                "type",
                "title",
                "status",
                "timestamp",
                "requestId",
              ],
              "type": "object",
            },
          },
          "securitySchemes": {
            "bearer": {
              "scheme": "bearer",
              "type": "http",
            },
          },
        },
        "info": {
          "title": "Test",
          "version": "1.2.3",
        },
        "openapi": "3.1.0",
        "paths": {
          "/orders/{customer}": {
            "post": {
              "operationId": "orders.createOrder",
              "parameters": [
                {
                  "in": "path",
                  "name": "customer",
                  "required": true,
                  "schema": {
                    "type": "string",
                  },
                },
              ],
              "requestBody": {
                "content": {
                  "application/json": {
                    "schema": {
                      "additionalProperties": false,
                      "properties": {
                        "note": {
                          "type": "string",
                        },
                      },
                      "required": [
                        "note",
                      ],
                      "type": "object",
                    },
                  },
                  "application/yaml": {
                    "schema": {
                      "additionalProperties": false,
                      "properties": {
                        "note": {
                          "type": "string",
                        },
                      },
                      "required": [
                        "note",
                      ],
                      "type": "object",
                    },
                  },
                },
                "required": true,
              },
              "responses": {
                "201": {
                  "content": {
                    "application/json": {
                      "schema": {
                        "$ref": "#/components/schemas/Order",
                      },
                    },
                    "application/yaml": {
                      "schema": {
                        "$ref": "#/components/schemas/Order",
                      },
                    },
                  },
                  "description": "Order",
                },
                "400": {
                  "$ref": "#/components/responses/InvalidRequest",
                },
                "404": {
                  "content": {
                    "application/problem+json": {
                      "schema": {
                        "$ref": "#/components/schemas/Problem",
                      },
                    },
                    "application/problem+yaml": {
                      "schema": {
                        "$ref": "#/components/schemas/Problem",
                      },
                    },
                  },
                  "description": "NotFound",
                },
                "default": {
                  "$ref": "#/components/responses/Problem",
                },
              },
              "security": [
                {
                  "bearer": [],
                },
              ],
              "summary": "Create order",
              "tags": [
                "orders",
              ],
            },
          },
        },
        "servers": [
          {
            "url": "/",
          },
        ],
        "tags": [
          {
            "description": "What customers buy.",
            "name": "orders",
          },
        ],
      }
    `)
  })

  it("is valid without any API", () => expectValid(mergeOf([])))
})

describe("operation ids", () => {
  it.each([
    {
      clash: "none",
      ids: [
        ["a", "x"],
        ["b", "y"]
      ],
      expected: ["things.x", "things.y"]
    },
    {
      clash: "of two plugins",
      ids: [
        ["a", "x"],
        ["b", "x"]
      ],
      expected: ["things.x", "b.things.x"]
    },
    {
      clash: "of three",
      ids: [
        ["a", "x"],
        ["b", "x"],
        ["c/d", "x"]
      ],
      expected: ["things.x", "b.things.x", "c_d.things.x"]
    },
    {
      clash: "in one plugin",
      ids: [
        ["a", "x"],
        ["a", "x"],
        ["a", "x"]
      ],
      expected: ["things.x", "a.things.x", "a.things.x_2"]
    }
  ])("with a clash $clash", ({ ids, expected }) => {
    const document = mergeOf(ids.map(([plugin, id], index) => [plugin!, api(get(id!, `/${index}`))]))
    expect(Object.values<any>(document.paths).map((item) => item.get.operationId)).toEqual(expected)
  })

  it("give a summary to an operation that has none", () => {
    const document = mergeOf([
      ["a", api(get("findByName", "/1"), get("list", "/2").annotate(OpenApi.Summary, "All of them"))]
    ])
    expect(document.paths["/1"].get.summary).toBe("Find by name")
    expect(document.paths["/2"].get.summary).toBe("All of them")
  })
})

describe("component schemas", () => {
  const item = (name: string) => named("Item", { [name]: Schema.String })
  const cart = (content: Schema.Top) => named("Cart", { content })

  it("are shared when they have the same name and content", async () => {
    const document = mergeOf([
      ["a", api(get("x", "/a", item("one")))],
      ["b", api(get("y", "/b", item("one")))]
    ])
    expect(Object.keys(document.components.schemas)).toEqual(["Problem", "Item"])
    expect(refOf(document.paths["/b"].get)).toBe("#/components/schemas/Item")
  })

  it("are renamed when they differ, and references follow", async () => {
    const document = mergeOf([
      ["a", api(get("x", "/a", item("one")))],
      ["b/c", api(get("y", "/b", item("two")))]
    ])
    await expectValid(document)
    expect(refOf(document.paths["/a"].get)).toBe("#/components/schemas/Item")
    expect(refOf(document.paths["/b"].get)).toBe("#/components/schemas/b_c_Item")
    expect(Object.keys(document.components.schemas["b_c_Item"].properties)).toEqual(["two"])
  })

  it("are renamed when they only point at ones that differ", async () => {
    const document = mergeOf([
      ["a", api(get("x", "/a", cart(item("one"))))],
      ["b", api(get("y", "/b", cart(item("two"))))],
      ["c", api(get("z", "/c", cart(item("one"))))]
    ])
    await expectValid(document)
    expect(refOf(document.paths["/b"].get)).toBe("#/components/schemas/b_Cart")
    expect(document.components.schemas["b_Cart"].properties.content.$ref).toBe("#/components/schemas/b_Item")
    expect(refOf(document.paths["/c"].get)).toBe("#/components/schemas/Cart")
    expect(Object.keys(document.components.schemas)).toEqual(["Problem", "Cart", "Item", "b_Cart", "b_Item"])
  })

  it("may point at themselves", async () => {
    const tree = (extra: string) => {
      interface Tree {
        readonly children: ReadonlyArray<Tree>
      }
      const schema: Schema.Codec<Tree> = Schema.Struct({
        [extra]: Schema.String,
        children: Schema.Array(Schema.suspend(() => schema))
      }).annotate({ identifier: "Tree" }) as unknown as Schema.Codec<Tree>
      return schema
    }
    const document = mergeOf([
      ["a", api(get("x", "/a", tree("one")))],
      ["b", api(get("y", "/b", tree("two")))]
    ])
    await expectValid(document)
    expect(document.components.schemas["b_Tree"].properties.children.items.$ref).toBe("#/components/schemas/b_Tree")
  })

  it("get a number where the plugin's own name for them is taken too", async () => {
    const document = mergeOf([
      ["a", api(get("x", "/a", item("one")))],
      ["b", api(get("y", "/b", Schema.Tuple([item("two"), named("b_Item", { three: Schema.String })])))]
    ])
    await expectValid(document)
    expect(Object.keys(document.components.schemas)).toEqual(["Problem", "Item", "b_Item", "b_Item_2"])
  })

  it("get a number of their own, each", async () => {
    const both = (field: string) =>
      Schema.Tuple([
        item(field),
        named("Item_2", { [field]: Schema.String }),
        named("b_Item", { fixed: Schema.String })
      ])
    const document = mergeOf([
      ["a", api(get("x", "/a", both("one")))],
      ["b", api(get("y", "/b", both("two")))]
    ])
    await expectValid(document)
    expect(Object.keys(document.components.schemas).toSorted()).toEqual([
      "Item",
      "Item_2",
      "Problem",
      "b_Item",
      "b_Item_2",
      "b_Item_3"
    ])
  })

  it("leave the host's own name alone", async () => {
    const document = mergeOf([["a", api(get("x", "/a", named("Problem", { mine: Schema.String })))]])
    await expectValid(document)
    expect(refOf(document.paths["/a"].get)).toBe("#/components/schemas/a_Problem")
  })

  it("are not confused by data and names that look like references", () => {
    const ref = "#/components/schemas/Item"
    const document = mergeOf([
      ["a", api(get("x", "/a", item("one")))],
      [
        "b",
        written({
          paths: {
            "/b": {
              get: {
                operationId: "b",
                responses: {
                  default: {
                    description: "",
                    content: { "text/plain": { schema: { $ref: ref }, example: { $ref: ref } } }
                  }
                }
              }
            }
          },
          components: {
            schemas: {
              Item: {
                properties: { $ref: { $ref: ref }, default: { $ref: ref }, enum: { enum: [{ $ref: ref }] } },
                discriminator: { propertyName: "kind", mapping: { item: ref } },
                default: { $ref: ref }
              }
            }
          }
        })
      ]
    ])
    const renamed = "#/components/schemas/b_Item"
    expect(document.paths["/b"].get.responses.default.content["text/plain"]).toEqual({
      schema: { $ref: renamed },
      example: { $ref: ref }
    })
    expect(document.components.schemas["b_Item"]).toEqual({
      properties: { $ref: { $ref: renamed }, default: { $ref: renamed }, enum: { enum: [{ $ref: ref }] } },
      discriminator: { propertyName: "kind", mapping: { item: renamed } },
      default: { $ref: ref }
    })
  })

  it("may be named like members of Object", () => {
    const names = ["__proto__", "constructor", "toString"]
    const document = mergeOf(
      ["a", "b"].map((plugin, index) => [
        plugin,
        written({
          paths: Object.fromEntries(
            names.map((name) => [`/${plugin}/${name}`, { get: { operationId: name, responses: {} } }])
          ),
          components: { schemas: Object.fromEntries(names.map((name) => [name, { const: index }])) }
        })
      ])
    )
    expect(Object.keys(document.components.schemas)).toEqual(["Problem", ...names, ...names.map((name) => `b_${name}`)])
    expect(document.paths["/b/__proto__"].get.operationId).toBe("b.__proto__")
    expect(Object.getPrototypeOf(document.components.schemas)).toBe(Object.prototype)
    expect("const" in {}).toBe(false)
  })
})

describe("security schemes", () => {
  class Bearer extends HttpApiMiddleware.Service<Bearer>()("Bearer", { security: { token: HttpApiSecurity.bearer } }) {}
  class Key extends HttpApiMiddleware.Service<Key>()("Key", {
    security: { token: HttpApiSecurity.apiKey({ key: "x-key", in: "header" }) }
  }) {}

  it("are shared when equal, and renamed with the operations that name them when not", async () => {
    const document = mergeOf([
      ["a", api(get("x", "/a")).middleware(Bearer)],
      ["b", api(get("y", "/b")).middleware(Key)],
      ["c", api(get("z", "/c")).middleware(Bearer)]
    ])
    await expectValid(document)
    expect(document.components.securitySchemes).toEqual({
      token: { type: "http", scheme: "bearer" },
      b_token: { type: "apiKey", name: "x-key", in: "header" }
    })
    expect(["/a", "/b", "/c"].map((path) => document.paths[path].get.security)).toEqual([
      [{ token: [] }],
      [{ b_token: [] }],
      [{ token: [] }]
    ])
  })
})

describe("paths", () => {
  it("of two plugins are one where only the parameters' names differ", async () => {
    const params = (...names: ReadonlyArray<string>) => Object.fromEntries(names.map((name) => [name, Schema.String]))
    const document = mergeOf([
      ["a", api(HttpApiEndpoint.get("x", "/t/:a/u/:b", { params: params("a", "b") }))],
      ["b", api(HttpApiEndpoint.delete("y", "/t/:b/u/:c", { params: params("b", "c") }))]
    ])
    await expectValid(document)
    expect(Object.keys(document.paths)).toEqual(["/t/{aOrB}/u/{bOrC}"])
    for (const method of ["get", "delete"]) {
      const names = document.paths["/t/{aOrB}/u/{bOrC}"][method].parameters.map((one: any) => one.name)
      expect(names).toEqual(["aOrB", "bOrC"])
    }
  })

  it("keep methods that OpenAPI does not know", () => {
    const document = mergeOf([
      ["a", api(get("x", "/a"))],
      ["b", api(HttpApiEndpoint.query("search", "/a", { payload: Schema.Struct({ text: Schema.String }) }))]
    ])
    expect(Object.keys(document.paths["/a"])).toEqual(["get", "x-oai-additionalOperations"])
    expect(document.paths["/a"]["x-oai-additionalOperations"].QUERY.operationId).toBe("things.search")
  })

  it("give what they say for all their operations to each, and so does the document", () => {
    const q = { in: "query", name: "q", schema: {} }
    const document = mergeOf([
      [
        "a",
        written({
          servers: [{ url: "https://api.test" }],
          security: [{ key: [] }],
          paths: { "/a": { parameters: [q], get: { parameters: [{ ...q, required: true }] }, put: {} } }
        })
      ]
    ])
    const { get, put } = document.paths["/a"]
    expect(get.parameters).toEqual([{ ...q, required: true }])
    expect(put).toMatchObject({ parameters: [q], servers: [{ url: "https://api.test" }], security: [{ key: [] }] })
  })

  it("cannot hold an operation twice", () => {
    expect(() =>
      mergeOf([
        ["a", api(get("x", "/a"))],
        ["b", api(get("y", "/a"))]
      ])
    ).toThrow('GET /a is in the APIs of the plugins "a" and "b"')
  })
})

describe("tags", () => {
  it("of the same name are one, with what either says", () => {
    const tagged = (text: string, externalDocs?: OpenApi.OpenAPISpecExternalDocs) =>
      HttpApi.make("api").add(
        HttpApiGroup.make("things").annotateMerge(OpenApi.annotations({ description: text, externalDocs }))
      )
    const document = mergeOf([
      ["a", tagged("first")],
      ["b", tagged("second", { url: "https://docs.test" })]
    ])
    expect(document.tags).toEqual([
      { name: "things", description: "first", externalDocs: { url: "https://docs.test" } }
    ])
  })
})

describe("what the host adds", () => {
  const invalidRequest = { $ref: "#/components/responses/InvalidRequest" }

  it.each([
    { what: "nothing to decode", endpoint: get("x", "/a"), expected: undefined },
    {
      what: "a path parameter",
      endpoint: HttpApiEndpoint.get("x", "/a/:id", { params: { id: Schema.String } }),
      expected: invalidRequest
    },
    {
      what: "a query",
      endpoint: HttpApiEndpoint.get("x", "/a", { query: { q: Schema.String } }),
      expected: invalidRequest
    },
    {
      what: "a body",
      endpoint: HttpApiEndpoint.post("x", "/a", { payload: Schema.Struct({ a: Schema.String }) }),
      expected: invalidRequest
    }
  ])("is a 400 where it belongs: $what", ({ endpoint, expected }) => {
    const document = mergeOf([["a", api(endpoint)]])
    const [operation] = Object.values<any>(document.paths).flatMap((item) => Object.values<any>(item))
    expect(operation.responses["400"]).toEqual(expected)
    expect(operation.responses.default).toEqual({ $ref: "#/components/responses/Problem" })
  })

  it("joins the plugin's own 400", async () => {
    const own = { schema: { type: "object" } }
    const document = mergeOf([
      [
        "a",
        written({
          paths: {
            "/a": {
              get: {
                operationId: "a",
                parameters: [{ in: "query", name: "q", schema: {} }],
                responses: {
                  400: { description: "Mine", content: { "application/json": own, "application/problem+json": own } }
                }
              }
            }
          }
        })
      ]
    ])
    await expectValid(document)
    expect(document.paths["/a"].get.responses["400"]).toEqual({
      description: "Mine",
      content: {
        "application/json": own,
        "application/yaml": own,
        "application/problem+json": { schema: { anyOf: [own.schema, { $ref: "#/components/schemas/Problem" }] } },
        "application/problem+yaml": { schema: { anyOf: [own.schema, { $ref: "#/components/schemas/Problem" }] } }
      }
    })
  })

  it("is a problem where an error has no body, and nothing where a success has none", () => {
    const document = mergeOf([
      [
        "a",
        api(HttpApiEndpoint.delete("x", "/a", { success: HttpApiSchema.NoContent, error: HttpApiError.GoneNoContent }))
      ]
    ])
    const { responses } = document.paths["/a"].delete
    expect(responses["204"]).toEqual({ description: "<No Content>" })
    expect(responses["410"]).toEqual({ description: "Gone", content: problemContent })
  })

  it("is YAML beside JSON, but not for streams and other types", () => {
    const types = (success: unknown) =>
      Object.keys(
        mergeOf([["a", api(HttpApiEndpoint.get("x", "/a", { success: success as Schema.Codec<unknown> }))]]).paths["/a"]
          .get.responses["200"].content
      )
    expect(types(Schema.Number)).toEqual(["application/json", "application/yaml"])
    expect(types(HttpApiSchema.StreamNdjson({ schema: Schema.Number, contentType: "application/json" }))).not.toContain(
      "application/yaml"
    )
    expect(types(Schema.String.pipe(HttpApiSchema.asText()))).toEqual(["text/plain"])
  })
})

describe("merge", () => {
  it("leaves its input as it is and gives the same twice", () => {
    const input: any = {
      paths: { "/a": { get: { operationId: "a", parameters: [], responses: { 200: { description: "" } } } } },
      components: { schemas: { Problem: { type: "string" } } }
    }
    const before = structuredClone(input)
    const apis = [["a", written(input)]] as const
    expect(mergeOf(apis)).toEqual(mergeOf(apis))
    expect(input).toEqual(before)
  })

  it("names the plugin whose API cannot be described", () => {
    const broken = api(
      get("x", "/1").annotate(OpenApi.Identifier, "same"),
      get("y", "/2").annotate(OpenApi.Identifier, "same")
    )
    expect(() => mergeOf([["shop", broken]])).toThrow(
      'An API of the plugin "shop" cannot be described: Error: Duplicate OpenAPI operationId: same'
    )
  })
})
