/**
 * Files of unix sockets. They outlive a process that is killed, and then stand in the way of the next one.
 */
import * as Effect from "effect/Effect"
import { lstat, unlink } from "node:fs/promises"
import { connect } from "node:net"

/** Removes the file of a socket that nobody listens on any more. Tells whether the path is free now. */
export const removeDead = (path: string): Effect.Effect<boolean> =>
  Effect.promise(async () => {
    try {
      if (!(await lstat(path)).isSocket() || !(await isDead(path))) return false
      await unlink(path)
      return true
    } catch (error) {
      // Somebody else was faster.
      return (error as NodeJS.ErrnoException).code === "ENOENT"
    }
  })

/** Only a refusal says that there is nobody; a full queue, or a lack of permission, says nothing. */
const isDead = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path)
    socket.once("connect", () => {
      socket.destroy()
      resolve(false)
    })
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code === "ECONNREFUSED"))
  })
