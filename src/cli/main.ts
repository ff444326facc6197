#!/usr/bin/env node
/** What the shell runs: everything else is loaded behind what lets it be there sooner. */
import "../QuickStart.js"

await import("./start.ts")
