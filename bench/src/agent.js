/**
 * Loaded into each server that is measured: tells what its process has used, when asked. Its parent's end is its own.
 *
 * This is JavaScript so that a server that has no types need not load what strips them.
 */
process.on("message", () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
  process.send({ cpu: userCPUTime + systemCPUTime, peakMemory: maxRSS * 1024 })
})
process.on("disconnect", () => process.exit())
