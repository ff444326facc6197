import { assert, it } from "vitest"
import { isRelevant } from "../../../src/cli/dev/isRelevant.ts"

const relevant = (path: string) => isRelevant(path, "/home/.me/shop", "/home/.me/shop/src/plugins.generated.ts")

it("starts anew for sources, configuration, the manifest and packages, and for nothing that tools or the service write", () => {
  for (const path of ["src", "src/a.ts", "src/deep", "src/page.html", "appsettings.local.yaml", "package.json"]) {
    assert.isTrue(relevant(`/home/.me/shop/${path}`), path)
  }
  assert.isTrue(relevant("/home/.me/node_modules/acme/index.js"))
  for (const path of ["src/plugins.generated.ts", "src/.layerhost-1", "src/a.ts~", "src/.a.ts.swp", "src/4913"]) {
    assert.isFalse(relevant(`/home/.me/shop/${path}`), path)
  }
  for (const path of ["shop.db", "socket", "node_modules"]) assert.isFalse(relevant(`/home/.me/shop/${path}`), path)
  assert.isFalse(relevant("/home/.me/node_modules/acme/README.md"))
})
