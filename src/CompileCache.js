/**
 * Keeps what Node makes of the modules of a service, stripped of types and compiled, for its next start:
 * `node --import layerhost/CompileCache src/main.ts`. It has to stand before all modules that it is to keep, hence the flag.
 *
 * It is Node's own cache (https://nodejs.org/api/module.html#module-compile-cache), in `node_modules/.cache/layerhost`, written when
 * the process ends; where nobody may write there, nothing is kept. `NODE_COMPILE_CACHE` names another directory, and
 * `NODE_DISABLE_COMPILE_CACHE=1` switches it off.
 *
 * This is JavaScript because the types in itself would have to be stripped at every start.
 */
import { enableCompileCache } from "node:module"
import { fileURLToPath } from "node:url"

// Not Node's default below the system's directory for temporary files: what others may write is not to run here.
enableCompileCache(fileURLToPath(new URL("../.cache/layerhost", import.meta.resolve("effect/package.json"))))
