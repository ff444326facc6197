/** The peers are no part of the project's own install. */
import { execFileSync } from "node:child_process"
import { join, resolve } from "node:path"
import { statSync } from "node:fs"

const directory = resolve(import.meta.dirname, "..")

const modified = (file: string): number => statSync(join(directory, file), { throwIfNoEntry: false })?.mtimeMs ?? 0

/** Installs the peers where they are missing, or not those of the lock file. */
export const installPeers = (): void => {
  if (modified("node_modules/.package-lock.json") >= modified("package-lock.json")) return
  process.stderr.write("Installing the peers…\n")
  execFileSync("npm", ["ci", "--no-audit", "--no-fund"], { cwd: directory, stdio: ["ignore", "ignore", "inherit"] })
}
