/** Loaded into each server that is measured: tells what its process has used, when asked. Its parent's end is its own. */

export interface Usage {
  /** Microseconds of processor time, of all threads. */
  readonly cpu: number
  /** The most memory that was ever resident, in bytes. */
  readonly peakMemory: number
}

process.on("message", () => {
  const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
  process.send!({ cpu: userCPUTime + systemCPUTime, peakMemory: maxRSS * 1024 } satisfies Usage)
})
process.on("disconnect", () => process.exit())
