/** The README tells the truth: its snippets are files of the examples, and its commands print what it shows. */
import { assert, describe, it } from "@effect/vitest"
import { execFile } from "node:child_process"
import { existsSync, globSync, readFileSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { promisify } from "node:util"
import { startService } from "../support/ServiceProcess.ts"
import { matches, readBlocks, readSteps } from "./ReadmeBlocks.ts"

const root = resolve(import.meta.dirname, "../..")
const blocks = readBlocks(readFileSync(join(root, "README.md"), "utf8"))

// The tutorial is walked by a test of its own.
for (const page of ["README.md", "docs/how-to.md"]) {
  describe(`snippets of ${page}`, () => {
    const snippets = readBlocks(readFileSync(join(root, page), "utf8")).filter(({ language }) =>
      ["ts", "yaml", "json"].includes(language)
    )
    it("are there", () => assert.isAbove(snippets.length, 3))
    for (const { info, line, text } of snippets) {
      it(`line ${line} stands in ${info}`, () => {
        const file = readFileSync(join(root, info), "utf8").replace(/^ +/gm, "")
        assert.isTrue(
          file.includes(text.replace(/^ +/gm, "")),
          `${page}:${line} shows something that is not in ${info}`
        )
      })
    }
  })
}

describe("links between pages", () => {
  const pages = ["README.md", ...globSync("docs/*.md", { cwd: root })]
  const anchorsOf = (page: string) =>
    [...readFileSync(join(root, page), "utf8").matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
      title!
        .toLowerCase()
        .replace(/[^\w\s-]/g, "")
        .trim()
        .replaceAll(" ", "-")
    )
  for (const page of pages) {
    it(`of ${page} lead somewhere`, () => {
      const text = readFileSync(join(root, page), "utf8").replace(/^```[^]*?^```/gm, "")
      for (const [, target] of text.matchAll(/\]\((?!https?:)([^)]+)\)/g)) {
        const [file, anchor] = target!.split("#")
        const path = file === "" ? page : join(dirname(page), file!)
        assert.isTrue(existsSync(join(root, path)), `${page} links to ${target}`)
        if (anchor !== undefined) assert.include(anchorsOf(path), anchor, `${page} links to ${target}`)
      }
    })
  }
})

describe("commands", () => {
  for (const example of ["credentials", "hello"]) {
    it(`of examples/${example} print what is shown`, async () => {
      const steps = blocks
        .filter(({ language, info }) => language === "console" && info === example)
        .flatMap(({ text }) => readSteps(text))
      assert.isAbove(steps.length, 1)
      const service = await startService(`examples/${example}`)
      try {
        const shell = steps.map(({ command }) => `${command}\nprintf '\\n%s\\n' '${separator}'`).join("\n")
        const script = shell.replaceAll("http://localhost:8080", service.url)
        const { stdout } = await promisify(execFile)("bash", ["-c", script])
        const outputs = stdout.split(separator)
        for (const [i, { command, output }] of steps.entries()) {
          const actual = outputs[i]!.replaceAll(service.url, "http://localhost:8080")
          assert.isTrue(matches(output, actual), `$ ${command}\nshould print\n${output}\nbut printed\n${actual}`)
        }
      } finally {
        assert.strictEqual(await service.stop(), 0)
      }
    })
  }
})

const separator = "---- end of a README command ----"
