/** What `layerhost dev` and its instances say to each other. */

/** To an instance: run this program; listen now. */
export type ToInstance = { readonly type: "run"; readonly main: string } | { readonly type: "listen" }

/** From an instance: it is ready to listen and waits for its turn; it listens; it listens no more. */
export interface FromInstance {
  readonly type: "waiting" | "listening" | "closed"
}
