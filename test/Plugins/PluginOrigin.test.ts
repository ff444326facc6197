import { assert, describe, it } from "@effect/vitest"
import * as Plugin from "../../src/Plugins/Plugin.ts"
import { originOf, sort as sortByOrigin, sortKey } from "../../src/Plugins/PluginOrigin.ts"

const info = { name: "some-package", version: "1.2.3" }

describe("PluginOrigin", () => {
  it("sorts by origin, and keeps the order within one", () => {
    const plugins = [
      Plugin.make({ id: "app-b" }),
      Plugin.fromPackage(info, Plugin.make({ id: "third-b" })),
      Plugin.make({ id: "layerhost/b" }),
      Plugin.make({ id: "app-a" }),
      Plugin.fromPackage(info, Plugin.make({ id: "layerhost/a" })),
      Plugin.fromPackage(info, Plugin.make({ id: "third-a" }))
    ]
    const before = plugins.map(({ id }) => id)
    assert.deepStrictEqual(
      sortByOrigin<Plugin.Any>(plugins).map(({ id }) => id),
      ["layerhost/b", "layerhost/a", "third-b", "third-a", "app-b", "app-a"]
    )
    assert.deepStrictEqual(
      plugins.map(({ id }) => id),
      before
    )
  })

  it("has the sort keys of a signed byte", () => {
    assert.deepStrictEqual(sortKey, { framework: -128, "third-party": 0, app: 127 })
  })

  it("takes only the prefix, slash included, for the framework's", () => {
    assert.deepStrictEqual(
      ["layerhost/x", "layerhost", "layerhost-x", "Layerhost/x", "x/layerhost/"].map((id) => originOf(id)),
      ["framework", "app", "app", "app", "app"]
    )
  })
})

describe("Plugin.fromPackage", () => {
  it("says which package brought the plugin, and changes nothing else", () => {
    const plugin = Plugin.make({ id: "orders" })
    const { origin, package: from, ...rest } = Plugin.fromPackage(info, plugin)
    const { origin: _origin, package: none, ...same } = plugin
    assert.deepStrictEqual([origin, from, none], ["third-party", info, undefined])
    assert.deepStrictEqual(rest, same)
  })
})
