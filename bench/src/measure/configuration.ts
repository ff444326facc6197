/**
 * How long it takes to load 200 configuration files of 200 keys each, against just reading and parsing the same files.
 *
 * `node bench/src/measure/configuration.ts` prints a table. Both sides take turns, and the best round
 * of each counts: whatever else the machine does only adds to a time.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Effect from "effect/Effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { readdir, readFile } from "node:fs/promises"
import { availableParallelism, tmpdir } from "node:os"
import { join } from "node:path"
import * as Yaml from "yaml"
import * as Configuration from "../../../src/Host/Configuration/Configuration.ts"

const fileCount = 200
const keyCount = 200
const groupSize = 20

/** A file's keys, in groups; every value kind that files hold. */
const contentOf = (file: number): Record<string, Record<string, unknown>> => {
  const content: Record<string, Record<string, unknown>> = {}
  for (let key = 0; key < keyCount; key++) {
    const group = (content[`section${file}_${Math.floor(key / groupSize)}`] ??= {})
    group[`someSetting${key}`] = valueOf(key)
  }
  return content
}

const valueOf = (key: number): unknown => {
  switch (key % 4) {
    case 0:
      return `http://service-${key}.example.org:8080/path`
    case 1:
      return key * 17
    case 2:
      return key % 8 === 2
    default:
      return `a value of some words, number ${key}`
  }
}

const writeFiles = (extension: string, stringify: (content: unknown) => string): string => {
  const directory = mkdtempSync(join(tmpdir(), "layerhost-bench-"))
  for (let file = 0; file < fileCount; file++) {
    writeFileSync(join(directory, `appsettings.part${file}.${extension}`), stringify(contentOf(file)))
  }
  return directory
}

const readAndParse = async (directory: string, parse: (text: string) => unknown): Promise<void> => {
  const names = await readdir(directory)
  const texts = await Promise.all(names.map((name) => readFile(join(directory, name), "utf8")))
  for (const text of texts) parse(text)
}

const load = (directory: string): Promise<unknown> =>
  Effect.runPromise(Effect.provide(Configuration.load({ directory }), NodeServices.layer))

const timeOf = async (run: () => Promise<unknown>): Promise<number> => {
  const start = performance.now()
  await run()
  return performance.now() - start
}

const cases = [
  { name: "JSON", extension: "json", parser: "JSON.parse", stringify: toJson, parse: JSON.parse, rounds: 60 },
  { name: "YAML", extension: "yaml", parser: "YAML.parse", stringify: Yaml.stringify, parse: Yaml.parse, rounds: 10 }
]

function toJson(content: unknown): string {
  return JSON.stringify(content, null, 2)
}

const rows: Array<ReadonlyArray<string>> = [["files", "read and parse", "load", "ratio"]]
for (const { name, extension, parser, stringify, parse, rounds } of cases) {
  const directory = writeFiles(extension, stringify)
  try {
    let plain = Number.POSITIVE_INFINITY
    let loaded = Number.POSITIVE_INFINITY
    for (let round = 0; round < rounds; round++) {
      plain = Math.min(plain, await timeOf(() => readAndParse(directory, parse)))
      loaded = Math.min(loaded, await timeOf(() => load(directory)))
    }
    rows.push([
      name,
      `${plain.toFixed(1)} ms (${parser})`,
      `${loaded.toFixed(1)} ms`,
      `${(loaded / plain).toFixed(2)}×`
    ])
  } finally {
    rmSync(directory, { recursive: true })
  }
}

const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
process.stdout.write(
  [
    `${fileCount} files of ${keyCount} keys each, best of several rounds; Node ${process.version}, ${availableParallelism()} processors`,
    ...rows.map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd()
    ),
    ""
  ].join("\n")
)
