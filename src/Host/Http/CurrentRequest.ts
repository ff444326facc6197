/** What the host keeps of a request while it is handled. */
import * as Context from "effect/Context"

/** One request's identity and, once it is routed, its route. */
export interface RequestState {
  /** The value of `X-Request-Id`: on the answer, on every log line, on the span. */
  readonly requestId: string
  /** The pattern of the route that handles the request (`/items/:id`); absent where none does. */
  route: string | undefined
  /** The plugin whose route it is: the namespace of the log lines that the handler writes. */
  plugin: string | undefined
}

/** The request being handled; there inside every route, middleware and handler. */
export class CurrentRequest extends Context.Service<CurrentRequest, RequestState>()("layerhost/Host/CurrentRequest") {}
