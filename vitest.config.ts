import { availableParallelism } from "node:os"
import { join } from "node:path"
import { defineConfig } from "vitest/config"

// Each test file has a process, and many start services: none of them needs to compile again what another did.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules/.cache/node")

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts", "examples/*/test/**/*.test.ts", "templates/*/test/**/*.test.ts"],
    // Much of the time is that of the processes that tests start, so that no processor need be kept free.
    maxWorkers: availableParallelism(),
    testTimeout: 30_000,
    // What runs side by side in one file waits for servers that fail, and not for the processor.
    maxConcurrency: 16
  }
})
