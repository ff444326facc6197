/** The TypeScript compiler of a service. */
import { createRequire } from "node:module"
import { dirname, join } from "node:path"

/** The program of the TypeScript that a service has installed; `undefined` where it has none. */
export const findCompiler = (directory: string): string | undefined => {
  try {
    const manifest = createRequire(join(directory, "package.json")).resolve("typescript/package.json")
    return join(dirname(manifest), "bin/tsc")
  } catch {
    return undefined
  }
}
