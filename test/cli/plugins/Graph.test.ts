import { assert, describe, expect, it } from "@effect/vitest"
import * as Graph from "../../../src/cli/plugins/Graph.ts"
import * as GraphSvg from "../../../src/cli/plugins/GraphSvg.ts"
import type { PluginSummary } from "../../../src/cli/plugins/PluginSummary.ts"

const plugin = (id: string, fields: Partial<PluginSummary> = {}): PluginSummary => ({
  id,
  order: 1,
  origin: "app",
  package: null,
  version: "1.0.0",
  provides: [],
  requires: [],
  endpoints: [],
  moreRoutes: false,
  healthChecks: [],
  sections: [],
  middleware: [],
  errors: [],
  tasks: [],
  ...fields
})

const plugins = [
  plugin("layerhost/store", {
    origin: "framework",
    package: "layerhost",
    version: "0.1.0",
    provides: ["store/Backend"]
  }),
  plugin("mail", { origin: "third-party", package: "mail", provides: ["mail/Mailer", "mail/Templates"] }),
  plugin("orders", {
    provides: ["shop/Orders"],
    requires: ["store/Backend", "mail/Mailer", "mail/Templates", "no/Where"]
  }),
  plugin("bills", { requires: ["shop/Orders", "store/Backend"] })
]

describe("uses", () => {
  it("leads from each plugin to the last earlier one that provides what it requires", () => {
    const again = plugin("store again", { provides: ["store/Backend"] })
    assert.deepStrictEqual(Graph.uses([plugins[0]!, again, plugins[2]!, plugins[0]!]), [
      { from: 2, to: 1, services: ["Backend"] }
    ])
    assert.deepStrictEqual(Graph.uses([plugin("a", { requires: null }), plugin("b")]), [])
  })
})

it("draws Mermaid", () => {
  expect(Graph.mermaid(plugins)).toMatchInlineSnapshot(`
    "flowchart RL
      p0["layerhost/store<br/><small>layerhost 0.1.0</small>"]:::framework
      p1["mail<br/><small>mail 1.0.0</small>"]:::third-party
      p2["orders<br/><small>this service 1.0.0</small>"]:::app
      p3["bills<br/><small>this service 1.0.0</small>"]:::app
      p2 -- "Backend" --> p0
      p2 -- "Mailer<br/>Templates" --> p1
      p3 -- "Orders" --> p2
      p3 -- "Backend" --> p0
      classDef framework stroke:#7c5cbf,stroke-width:2px
      classDef third-party stroke:#b06f1c,stroke-width:2px
      classDef app stroke:#2f7d5b,stroke-width:2px"
  `)
})

describe("SVG", () => {
  const svg = GraphSvg.draw(plugins)

  /** Where the box of a plugin stands. */
  const placeOf = (id: string, drawing = svg) => {
    const place = new RegExp(`<rect x="(\\d+)" y="(\\d+)"[^>]*/><text class="id"[^>]*>${id}</text>`).exec(drawing)
    assert.isNotNull(place, `${id} in ${drawing}`)
    return { x: Number(place[1]), y: Number(place[2]) }
  }

  it("puts each plugin to the right of what it uses, and none over another", () => {
    for (const { from, to } of Graph.uses(plugins)) {
      assert.isAbove(placeOf(plugins[from]!.id).x, placeOf(plugins[to]!.id).x)
    }
    const places = plugins.map(({ id }) => JSON.stringify(placeOf(id)))
    assert.strictEqual(new Set(places).size, plugins.length)
    // Each line begins, with its arrow, at what is used.
    assert.strictEqual(svg.match(/<path marker-start="url\(#used\)" /g)?.length, 4)
  })

  it("holds every box", () => {
    const [, width, height] = /viewBox="0 0 (\d+) (\d+)"/.exec(svg)!.map(Number)
    for (const { id } of plugins) {
      const { x, y } = placeOf(id)
      assert.isTrue(x + 8 * id.length < width! && y + 46 < height!)
    }
  })

  it("keeps names that are markup as text", () => {
    const drawing = GraphSvg.draw([plugin(`<script>&"`)])
    assert.include(drawing, "&#60;script&#62;&#38;&#34;")
    assert.notInclude(drawing, "<script>")
  })

  it("draws a service without plugins", () => {
    assert.include(GraphSvg.draw([]), "0 plugins")
  })
})
