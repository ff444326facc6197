import { assert, it } from "@effect/vitest"
import { join } from "node:path"
import { start } from "../support/NodeProcess.ts"

const listening = /"message":"Listening on (http:[^",]+)/

it("loads what a service needs that answers requests, and nothing else", async () => {
  const service = start("examples/hello/src/main.ts", {
    directory: "examples/hello",
    environment: {
      HOST_URLS: "http://127.0.0.1:0",
      LOGGING_FORMAT: "json",
      NODE_OPTIONS: `--import=${join(import.meta.dirname, "fixtures/loadedModules.ts")}`
    }
  })
  const [, url] = await service.waitFor(listening)
  assert.strictEqual((await fetch(`${url}/hello/Ada`)).status, 200)
  service.signal("SIGTERM")
  const { status, stderr } = await service.ended
  assert.strictEqual(status, 0)
  const loaded: ReadonlyArray<string> = JSON.parse(stderr)
  assert.isTrue(loaded.some((module) => module.endsWith("src/Host/Http/Pipeline.ts")))

  const costly = [
    // Node's fetch, which also stands behind the global Request and WebSocket.
    /NativeModule internal\/deps\/undici/,
    // The client that plugins get, before one of them sends a request.
    /node_modules\/undici\//,
    /node_modules\/(@redis|redis)\//,
    /\/src\/Host\/Telemetry\/Otlp\//,
    /\/src\/Host\/Docs\/(DocsPage|OpenApiDocument)/,
    /\/src\/cli\//
  ]
  for (const pattern of costly)
    assert.deepStrictEqual(
      loaded.filter((module) => pattern.test(module)),
      []
    )
})
