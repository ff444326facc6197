/**
 * Lets the modules of a service be there sooner: `node --import layerhost/QuickStart src/main.ts`. It has to stand before all of them,
 * hence the flag. The service is the same with it and without.
 *
 * This is JavaScript because the types in itself would have to be stripped at every start.
 */
import { enableCompileCache, registerHooks } from "node:module"
import { fileURLToPath } from "node:url"

// What Node makes of the modules, stripped of types and compiled, is kept for the next start, in Node's own cache
// (https://nodejs.org/api/module.html#module-compile-cache), written when the process ends. The directory is not Node's default below
// the system's one for temporary files, since what others may write is not to run here; where nobody may write, nothing is kept.
// `NODE_COMPILE_CACHE` names another directory, and `NODE_DISABLE_COMPILE_CACHE=1` switches it off.
enableCompileCache(fileURLToPath(new URL("../.cache/layerhost", import.meta.resolve("effect/package.json"))))

/** Layerhost's own modules and Effect's: ES modules all of them, which name each other by their files. */
const home = new RegExp(
  `^(?:${RegExp.escape(new URL("./", import.meta.url).href)}|.*/node_modules/(?:effect|@effect/platform-node(?:-shared)?)/dist/)`
)

/** What the modules of a package mean by a name, by that package and the name. */
const known = new Map()

// Node asks the file system several times for each of their three thousand imports, to find what the import says or what it has found
// before. In all other modules it goes on as it does.
registerHooks({
  resolve: (specifier, context, next) => {
    const [from] = home.exec(context.parentURL) ?? []
    if (from === undefined) return next(specifier, context)
    if (specifier.startsWith(".")) {
      const format = specifier.endsWith(".ts") ? "module-typescript" : specifier.endsWith(".js") ? "module" : undefined
      if (format === undefined) return next(specifier, context)
      return { url: new URL(specifier, context.parentURL).href, format, shortCircuit: true }
    }
    const name = `${from} ${specifier}`
    let found = known.get(name)
    if (found === undefined) known.set(name, (found = { ...next(specifier, context), shortCircuit: true }))
    return found
  }
})
