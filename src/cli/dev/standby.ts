/**
 * The process of an instance: it loads the host in advance, and then waits to be told which program to run.
 *
 * When the program listens, it waits for its turn, so that the instance before it serves until this one is ready. When the
 * process of `layerhost dev` is gone, however it ended, this one ends too.
 */
import "../../QuickStart.js"
import { Server } from "node:net"
import { pathToFileURL } from "node:url"
import type { FromInstance, ToInstance } from "./Message.ts"

const send = (message: FromInstance): void => void process.send?.(message, () => {})

const turn = Promise.withResolvers<void>()
const program = Promise.withResolvers<string>()
process.on("message", (message: ToInstance) => {
  if (message.type === "run") program.resolve(message.main)
  else turn.resolve()
})
process.on("disconnect", () => process.kill(process.pid, "SIGTERM"))

// Every server of Node, of http, https and http2 too, listens and closes by these two methods.
const { close, listen } = Server.prototype
const servers = new Set<Server>()
let pending = 0

Server.prototype.listen = function (this: Server, ...args: Array<any>) {
  pending++
  servers.add(this)
  const settled = () => {
    pending--
    if (pending === 0) send({ type: "listening" })
  }
  this.once("listening", settled)
  send({ type: "waiting" })
  void turn.promise.then(() => Reflect.apply(listen, this, args))
  return this
} as typeof listen

Server.prototype.close = function (this: Server, ...args: Array<any>) {
  // Nobody can connect from here on, though requests in flight go on.
  Reflect.apply(close, this, args)
  if (servers.delete(this) && servers.size === 0) send({ type: "closed" })
  return this
} as typeof close

await import("../../Host/Host.ts")
const main = await program.promise
process.argv[1] = main
// From here on, the program alone decides when the process ends.
process.channel?.unref()
await import(pathToFileURL(main).href)
