/** The package as its users install it: packed by npm, and unpacked into projects that know nothing of the repository. */
import { execFileSync } from "node:child_process"
import { cpSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { delimiter, dirname, join, resolve } from "node:path"

const root = resolve(import.meta.dirname, "../..")
const bin = join(root, "node_modules/.bin")

/** The environment in which `node`, `npm` and `tsc` are those of the repository. */
export const environment = { ...process.env, PATH: [bin, process.env["PATH"]].join(delimiter) }

/** A directory that only this test uses. */
export const makeDirectory = (): string => realpathSync(mkdtempSync(join(tmpdir(), "layerhost-package-")))

/** Removes what tests made. */
export const removeDirectory = (directory: string): void => rmSync(directory, { recursive: true, force: true })

/**
 * Runs `npm pack` and gives the path of the tarball, which is made in the directory. Packing rewrites package.json for a
 * moment, and other tests run beside: a copy of the repository is packed.
 */
export const pack = (directory: string): string => {
  const copy = join(directory, "repository")
  const files = ["package.json", "tsconfig.json", "tsconfig.build.json", "README.md", "CHANGELOG.md", "LICENSE"]
  for (const file of [...files, "src", "scripts", "templates"])
    cpSync(join(root, file), join(copy, file), { recursive: true })
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"))
  execFileSync("npm", ["pack", "--offline", "--silent", "--pack-destination", directory], {
    cwd: copy,
    env: environment
  })
  return join(
    directory,
    readdirSync(directory).find((file) => file.endsWith(".tgz"))!
  )
}

/** Makes a project with the package from the tarball, and with other packages as the repository has them installed. */
export const makeProject = (
  directory: string,
  options: {
    readonly tarball: string
    readonly packages: ReadonlyArray<string>
    readonly files: Readonly<Record<string, unknown>>
  }
): void => {
  const installed = join(directory, "node_modules/layerhost")
  mkdirSync(installed, { recursive: true })
  execFileSync("tar", ["-xzf", options.tarball, "-C", installed, "--strip-components", "1"])
  for (const name of options.packages) {
    const link = join(directory, "node_modules", name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(realpathSync(join(root, "node_modules", name)), link)
  }
  for (const [path, contents] of Object.entries(options.files)) {
    const file = join(directory, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, typeof contents === "string" ? contents : JSON.stringify(contents, undefined, 2))
  }
}
