/**
 * What Node would load a whole HTTP client for, about a third of the time that an empty server takes to start: whoever imports
 * `node:http` as an ES module reads every member of it, `WebSocket` too, and whoever asks for the global `Request` has it made.
 */
import type { IncomingMessage } from "node:http"

/** The module `node:http`, none of whose members is read before somebody asks for it. */
export const http = process.getBuiltinModule("node:http")

/** Whether what a request was made from came over a connection; it is a `Request` where it was made in memory. */
export const isOfNode = (source: object): source is IncomingMessage => "socket" in source
