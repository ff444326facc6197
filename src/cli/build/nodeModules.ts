/**
 * The modules of Node in a bundle: each is asked for where a module is first run that imports it, and none of its members is read
 * before it is used. An import would stand at the top of the file, for what is loaded later, too, and read all members: those of
 * `node:http` alone load a whole HTTP client.
 */
import { isBuiltin } from "node:module"
import type { Plugin } from "rolldown"

const prefix = "\0node:"

/** What the bundler needs itself. */
const isNeededFirst = (specifier: string): boolean => /^(node:)?module$/.test(specifier)

export const nodeModules: Plugin = {
  name: "layerhost:node-modules",
  resolveId: {
    order: "pre",
    handler: (specifier) =>
      isBuiltin(specifier) && !isNeededFirst(specifier)
        ? { id: `${prefix}${specifier.replace(/^node:/, "")}`, moduleSideEffects: false }
        : undefined
  },
  load: (id) =>
    id.startsWith(prefix)
      ? { code: `module.exports = process.getBuiltinModule(${JSON.stringify(id.slice(1))})`, moduleType: "js" }
      : undefined
}
