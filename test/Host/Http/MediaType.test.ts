import { assert, describe, it } from "@effect/vitest"
import * as MediaType from "../../../src/Host/Http/MediaType.ts"

describe("MediaType", () => {
  it.each([
    ["application/json", "application/json"],
    ["Application/JSON; charset=utf-8", "application/json"],
    [" text/yaml ;a=b", "text/yaml"],
    ["", ""]
  ])("takes the essence of %j", (contentType, essence) => {
    assert.strictEqual(MediaType.essence(contentType), essence)
  })

  it.each([
    ["application/yaml", true],
    ["text/yaml", true],
    ["application/x-yaml", true],
    ["text/x-yaml", true],
    ["application/problem+yaml", true],
    ["application/json", false],
    ["application/yamlish", false],
    ["text/plain", false],
    ["", false]
  ])("knows whether %j is YAML", (mediaType, isYaml) => {
    assert.strictEqual(MediaType.isYaml(mediaType), isYaml)
  })

  it.each([
    ["application/json", true],
    ["application/problem+json", true],
    ["application/jsonl", false],
    ["application/json-seq", false],
    ["application/yaml", false]
  ])("knows whether %j is JSON", (mediaType, isJson) => {
    assert.strictEqual(MediaType.isJson(mediaType), isJson)
  })

  it.each([
    ["application/json", "application/yaml"],
    ["application/problem+json", "application/problem+yaml"],
    ["application/vnd.x+json", "application/vnd.x+yaml"]
  ])("names the YAML type beside %s", (json, yaml) => {
    assert.strictEqual(MediaType.yamlOf(json), yaml)
  })

  it.each([
    ["application/yaml", true],
    ["APPLICATION/YAML", true],
    ["text/yaml", true],
    ["application/problem+yaml", true],
    ["application/yaml; charset=utf-8", true],
    ["application/yaml, */*", true],
    ["application/yaml, application/*;q=0.5", true],
    ["application/yaml;q=0.9, application/json;q=0.8", true],
    ["application/json;q=0.8, application/yaml;q=0.9", true],
    ["application/json;q=0, application/yaml;q=0.1", true],
    ["text/html, application/yaml;q=0.3", true],
    ["application/yaml;Q=0.9;ext=1", true],
    ["", false],
    ["*/*", false],
    ["application/*", false],
    ["application/json", false],
    ["text/html", false],
    ["application/json, application/yaml", false],
    ["application/yaml, application/json", false],
    ["application/yaml;q=0.5, application/json;q=0.8", false],
    ["application/yaml;q=0.5, */*", false],
    ["application/yaml;q=0.5, application/*;q=0.8", false],
    ["application/yaml;q=0", false],
    ["application/yaml;q=0.000, text/html", false],
    ["application/yamlish", false],
    ["text/plain;format=yaml", false]
  ])("tells whether Accept: %s prefers YAML", (accept, prefersYaml) => {
    assert.strictEqual(MediaType.prefersYaml(accept), prefersYaml)
  })
})
