import { assert, describe, layer as withLayer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as PlatformError from "effect/PlatformError"
import { chmod, mkfifo } from "./unix.ts"
import * as Configuration from "../../../src/Host/Configuration/Configuration.ts"
import { findText } from "../../../src/Host/Configuration/ConfigurationTree.ts"
import { decode } from "../../../src/Host/Configuration/Decode.ts"
import { maxFileSize } from "../../../src/Host/Configuration/ReadFile.ts"
import { type Files, layer, loadFiles, makeDirectory } from "./support.ts"

/** The problems of a directory's files, as `name:line:column: message`, and whether its good file was read all the same. */
const problemsOf = Effect.fnUntraced(function* (files: Files) {
  const directory = yield* makeDirectory({ ...files, "appsettings.good.json": { good: 1 } })
  const tree = yield* Configuration.load({ directory })
  assert.strictEqual(findText(tree.root, "good"), "1")
  return tree.problems.map((problem) => `${problem.source?.replace(`${directory}/`, "")}: ${problem.message}`)
})

/** The real file system with one operation that fails for one file. */
const withBroken = <A, E, R>(
  effect: Effect.Effect<A, E, R>,
  operation: "readFile" | "stat" | "readDirectory",
  name: string,
  tag: "NotFound" | "PermissionDenied"
) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const fail = (path: string) =>
      PlatformError.systemError({ _tag: tag, module: "FileSystem", method: operation, pathOrDescriptor: path })
    const broken = {
      ...fs,
      [operation]: (path: string) => (path.endsWith(name) ? Effect.fail(fail(path)) : fs[operation](path))
    } as FileSystem.FileSystem
    return yield* Effect.provideService(effect, FileSystem.FileSystem, broken)
  })

const bomb = (levels: number) =>
  Array.from(
    { length: levels },
    (_, i) =>
      `l${i}: &l${i} [${
        i === 0
          ? "x"
          : Array(9)
              .fill(`*l${i - 1}`)
              .join(", ")
      }]`
  ).join("\n")

const mergeBomb = (levels: number) =>
  Array.from(
    { length: levels },
    (_, i) =>
      `l${i}: &l${i} { ${
        i === 0
          ? ""
          : `<<: [${Array(9)
              .fill(`*l${i - 1}`)
              .join(", ")}]`
      } }`
  ).join("\n")

withLayer(layer)((test) => {
  describe("A file that cannot be used is one problem that names it, and the others are read", () => {
    for (const [title, files, expected] of [
      [
        "a YAML syntax error",
        { "appsettings.yaml": "a: 1\nb: [1, 2\nc: 3\n" },
        "appsettings.yaml:3:1: Flow sequence in block collection must be sufficiently indented and end with a ]"
      ],
      [
        "a JSON syntax error",
        { "appsettings.json": '{\n  "a": 1\n  "b": 2\n}' },
        'appsettings.json:3:3: expected "," or "}", found "\\""'
      ],
      [
        "an empty JSON file",
        { "appsettings.json": "" },
        "appsettings.json:1:1: expected a value, found the end of the file"
      ],
      [
        "a list as the root",
        { "appsettings.yaml": "- a\n- b" },
        "appsettings.yaml:1:1: expected keys with values, found a list"
      ],
      [
        "a value as the root",
        { "appsettings.json": "// x\n 5" },
        "appsettings.json:2:2: expected keys with values, found a single value"
      ],
      [
        "several documents",
        { "appsettings.yaml": "a: 1\n---\nb: 2" },
        "appsettings.yaml:2:1: the file holds more than one document"
      ],
      ["an unknown tag", { "appsettings.yaml": "a: !secret x" }, "appsettings.yaml:1:4: Unresolved tag: !secret"],
      [
        "an alias without anchor",
        { "appsettings.yaml": "a: 1\nb: *x" },
        "appsettings.yaml:2:4: an alias without its anchor"
      ],
      [
        "an alias that contains itself",
        { "appsettings.yaml": "a: &a [*a]" },
        "appsettings.yaml:1:8: an alias that contains itself"
      ],
      [
        "a key that is no text",
        { "appsettings.yaml": "? [a, b]\n: 1" },
        "appsettings.yaml:1:3: a key must be plain text"
      ],
      [
        "a YAML alias bomb",
        { "appsettings.yaml": bomb(20) },
        /^appsettings\.yaml:\d+:\d+: the aliases of this file multiply it to more than 10000 values$/
      ],
      [
        "a YAML merge bomb",
        { "appsettings.yaml": mergeBomb(20) },
        /^appsettings\.yaml:\d+:\d+: the aliases of this file multiply it/
      ],
      [
        "JSON that is nested too deep",
        { "appsettings.json": '{"a":'.repeat(100_000) },
        "appsettings.json:1:506: nested deeper than 100 levels"
      ],
      [
        "JSON lists that are nested too deep",
        { "appsettings.json": "[".repeat(1_000_000) },
        "appsettings.json:1:102: nested deeper than 100 levels"
      ],
      [
        "YAML that is nested too deep",
        { "appsettings.yaml": `a: ${"[".repeat(150)}${"]".repeat(150)}` },
        "appsettings.yaml:1:104: nested deeper than 100 levels"
      ],
      [
        "a key with too many parts",
        { "appsettings.json": { [Array(200).fill("a").join(":")]: 1 } },
        /nested deeper than 100 levels/
      ],
      [
        "invalid UTF-8",
        { "appsettings.yaml": Buffer.concat([Buffer.from("ä: 1\nbö: "), Buffer.from([0xff, 0x41])]) },
        "appsettings.yaml:2:5: the file is not valid UTF-8"
      ],
      [
        "UTF-8 that is cut off",
        { "appsettings.json": Buffer.from("{}// \u00e4").subarray(0, -1) },
        "appsettings.json:1:6: the file is not valid UTF-8"
      ],
      [
        "UTF-16",
        { "appsettings.json": Buffer.from("\ufeff{}", "utf16le") },
        "appsettings.json:1:1: the file is not valid UTF-8"
      ],
      [
        "a directory named appsettings.json",
        { "appsettings.json/x": "" },
        "appsettings.json: expected a file, but it is a directory"
      ],
      [
        "duplicate keys in JSON",
        { "appsettings.json": '{ "a": { "b": 1,\n "B": 2 } }' },
        'appsettings.json:2:2: duplicate key "a:B", first set at line 1, column 10'
      ],
      [
        "duplicate keys in YAML",
        { "appsettings.yaml": "Host:\n  urls: x\nhost:\n  other: y" },
        'appsettings.yaml:3:1: duplicate key "host", first set at line 1, column 1'
      ],
      [
        "duplicate keys, one of them a path",
        { "appsettings.yaml": "host: { urls: x }\nHOST:URLS: y" },
        'appsettings.yaml:2:1: duplicate key "HOST:URLS", first set at line 1, column 9'
      ]
    ] as const) {
      test.effect(title, () =>
        Effect.gen(function* () {
          const [problem, ...more] = yield* problemsOf(files)
          assert.deepStrictEqual(more, [])
          if (typeof expected === "string") assert.strictEqual(problem, expected)
          else assert.match(problem!, expected)
        })
      )
    }

    for (const piece of ["[", "{a: ", "- ", "? ", "a: ", "{? "]) {
      test.effect(`a megabyte of "${piece}" in YAML`, () =>
        Effect.gen(function* () {
          const [problem] = yield* problemsOf({
            "appsettings.yaml": `a: 1\nb:\n  ${piece.repeat(2 ** 20 / piece.length)}`
          })
          assert.match(problem!, /^appsettings\.yaml:3:\d+: nested deeper than 100 levels$/)
        })
      )
    }

    test.effect("a file of 100 MB", () =>
      Effect.gen(function* () {
        const directory = yield* makeDirectory({})
        const fs = yield* FileSystem.FileSystem
        yield* fs.writeFileString(`${directory}/appsettings.json`, "{}")
        yield* fs.truncate(`${directory}/appsettings.json`, 100 * 1024 * 1024)
        const tree = yield* Configuration.load({ directory })
        assert.deepStrictEqual(
          tree.problems.map((problem) => [problem.source, problem.message]),
          [[`${directory}/appsettings.json`, "the file is larger than 2 MB"]]
        )
      })
    )

    test.effect("a file of just the largest size is read", () =>
      Effect.gen(function* () {
        const text = '{ "a": 1 }'
        const tree = yield* loadFiles({ "appsettings.json": text.padEnd(maxFileSize, "\n") })
        assert.deepStrictEqual(tree.problems, [])
        assert.strictEqual(findText(tree.root, "a"), "1")
      })
    )

    test.effect("a file that is no regular one", () =>
      Effect.gen(function* () {
        const directory = yield* makeDirectory({})
        yield* mkfifo(`${directory}/appsettings.json`)
        const tree = yield* Configuration.load({ directory })
        assert.deepStrictEqual(
          tree.problems.map((problem) => problem.message),
          ["expected a file, but it is not a regular file"]
        )
      })
    )

    for (const operation of ["stat", "readFile"] as const) {
      test.effect(`a file that vanishes between listing and ${operation}`, () =>
        Effect.gen(function* () {
          const problems = yield* withBroken(
            problemsOf({ "appsettings.a.json": "{}" }),
            operation,
            "appsettings.a.json",
            "NotFound"
          )
          assert.deepStrictEqual(problems, [
            "appsettings.a.json: the file is gone: it was removed after it was found, or it is a link to nothing"
          ])
        })
      )

      test.effect(`a file whose ${operation} is denied`, () =>
        Effect.gen(function* () {
          const files = { "appsettings.a.json": "{}" }
          const problems = yield* withBroken(problemsOf(files), operation, "appsettings.a.json", "PermissionDenied")
          assert.deepStrictEqual(problems, ["appsettings.a.json: the file cannot be read: permission denied"])
        })
      )
    }

    test.effect.skipIf(process.getuid?.() === 0)("a file that its mode makes unreadable (root reads every file)", () =>
      Effect.gen(function* () {
        const directory = yield* makeDirectory({ "appsettings.json": "{}" })
        yield* chmod(`${directory}/appsettings.json`, 0o000)
        const tree = yield* Configuration.load({ directory })
        assert.include(tree.problems[0]?.message, "permission denied")
      })
    )

    test.effect("a main directory that is missing, or cannot be read", () =>
      Effect.gen(function* () {
        const missing = yield* Configuration.load({ directory: "/no/such/place" })
        assert.deepStrictEqual(missing.problems.map(String), [
          "/no/such/place: the configuration directory does not exist"
        ])
        const directory = yield* makeDirectory({})
        const denied = yield* withBroken(
          Configuration.load({ directory }),
          "readDirectory",
          directory,
          "PermissionDenied"
        )
        assert.include(denied.problems[0]?.message, "the configuration directory cannot be read (PermissionDenied)")
      })
    )
  })

  test.effect("problems of all files are reported together, also with those of sections and arguments", () =>
    Effect.gen(function* () {
      const directory = yield* makeDirectory({
        "appsettings.json": "{",
        "appsettings.yaml": "a: [",
        "appsettings.x.json": '{"a":1,"a":2,"A":3}'
      })
      const tree = yield* Configuration.load({ directory, args: ["--host:additionalConfigPaths=/none", "--host:urls"] })
      const error = yield* Effect.flip(decode(tree, []))
      assert.deepStrictEqual(
        error.problems.map((problem) => problem.source?.replace(`${directory}/`, "")),
        [
          "/none",
          "appsettings.json:1:2",
          "appsettings.yaml:1:5",
          "appsettings.x.json:1:8",
          "appsettings.x.json:1:14",
          "argument --host:urls"
        ]
      )
    })
  )

  test.effect("no message quotes the file", () =>
    Effect.gen(function* () {
      for (const text of [
        'password: "hunter2',
        "password: 'hunter2",
        "password: hunter2: hunter2",
        "password: |hunter2\n x",
        "password: @hunter2",
        "password: %hunter2",
        "password: &hunter2 !!int hunter2",
        "\thunter2: x",
        "password: [hunter2",
        "password: {hunter2",
        "password: hunter2\n hunter2: x\nhunter2",
        "} hunter2",
        "a: ]hunter2",
        'a: "\\uhunter2"'
      ]) {
        for (const name of ["appsettings.yaml", "appsettings.json"]) {
          const problems = yield* problemsOf({ [name]: text })
          assert.isAbove(problems.length, 0, text)
          assert.notInclude(problems.join("\n"), "hunter2")
        }
      }
    })
  )
})
