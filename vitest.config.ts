import { defineConfig } from "vitest/config"

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts", "examples/*/test/**/*.test.ts", "templates/*/test/**/*.test.ts"],
    testTimeout: 30_000
  }
})
