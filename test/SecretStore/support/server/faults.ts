/** What can happen on the way between the store and the server. */
import type { Asked } from "./Reply.ts"
import { type Fault, send } from "./StandIn.ts"

/** An error answer; nothing is done. */
export const refuse =
  (status: number, errors: ReadonlyArray<string> = ["internal error"], headers: Record<string, string> = {}): Fault =>
  (response) =>
    send(response, { status, body: { errors }, headers })

/** The server never answers. */
export const silence: Fault = () => {}

/** The connection breaks before the server has done anything. */
export const reset: Fault = (response) => void response.destroy()

/** The server does what was asked, and the connection breaks in the middle of its answer. */
export const resetMidAnswer: Fault = (response, answer) => {
  const text = JSON.stringify(answer().body ?? {})
  response.writeHead(200, { "content-type": "application/json", "content-length": text.length + 100 })
  response.write(text.slice(0, text.length / 2), () => response.destroy())
}

/** The server does what was asked, and its answer is lost. */
export const lose: Fault = (response, answer) => {
  answer()
  response.destroy()
}

/** The server does what was asked, and says that it did not. */
export const lie =
  (status: number): Fault =>
  (response, answer) => {
    answer()
    send(response, { status, body: { errors: ["internal error"] } })
  }

/** An answer that is none of the server's. */
export const say =
  (text: string | Buffer, contentType: string, status = 200): Fault =>
  (response) =>
    void response.writeHead(status, { "content-type": contentType }).end(text)

/** A fault for the requests of a method and a path. */
export const when =
  (method: string, path: RegExp, fault: Fault) =>
  (asked: Asked): Fault | undefined =>
    asked.method === method && path.test(asked.path) ? fault : undefined

/** A fault for the first requests only. */
export const first = (count: number, choose: (asked: Asked) => Fault | undefined) => {
  let left = count
  return (asked: Asked): Fault | undefined => {
    const fault = left > 0 ? choose(asked) : undefined
    if (fault !== undefined) left--
    return fault
  }
}
