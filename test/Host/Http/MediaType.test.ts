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
    ["application/json", undefined],
    ["application/json; charset=utf-8", undefined],
    ["text/plain;Charset=UTF8;format=flowed", undefined],
    ['text/plain; charset="iso-8859-1"', "iso-8859-1"],
    ["text/plain; a=b; charset = UTF-16LE ", "UTF-16LE"]
  ])("finds what is not UTF-8 in %j", (contentType, charset) => {
    assert.strictEqual(MediaType.charset(contentType), charset)
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
    ["application/json;q=0, */*", true],
    ["application/json;q=0, application/*;q=0.1", true],
    ["application/json;q=.2, application/yaml;q=.3", true],
    ["application/json;q=0, application/*;q=0, */*", false],
    ["application/json;q=0, application/yaml;q=0, */*", false],
    ["application/json;q=0", false],
    ["application/json;charset=utf-8, */*", false],
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

  it.each([
    ["*/*", "application/json", true],
    ["*", "application/json", true],
    ["application/*;q=0.1", "application/json", true],
    ["APPLICATION/JSON", "application/json", true],
    ["application/vnd.x+json", "application/json", true],
    ["text/yaml", "application/json", true],
    ["image/png, application/yaml;q=0.001", "application/json", true],
    ["image/png", "image/png", true],
    ["image/*", "image/png", true],
    ["text/html, image/gif, image/jpeg, *; q=.2, */*; q=.2", "application/json", true],
    // JSON and YAML are what a client of such a service speaks.
    ["application/json", "image/png", true],
    ["application/yaml", "text/html", true],
    ["", "application/json", true],
    [" , ", "application/json", true],
    ["garbage", "application/json", true],
    ["image/png", "application/json", false],
    ["image/*, text/html", "application/json", false],
    ["application/xml;q=1", "application/json", false],
    ["image/*;q=0, image/png", "image/gif", false],
    ["*/*;q=0", "application/json", false],
    ["*/*;q=0.000", "application/json", false],
    ["application/json;q=0", "application/json", false],
    ["application/*;q=0, */*", "application/json", false],
    ["application/*;q=0, */*", "text/plain", true],
    ["text/plain;q=0, application/json;q=0, application/yaml;q=0, */*", "text/plain", false]
  ])("tells whether Accept: %s admits %s", (accept, mediaType, admits) => {
    assert.strictEqual(MediaType.admits(accept, mediaType), admits)
  })
})
