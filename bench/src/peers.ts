/** Who is measured; `docs/benchmarks.md` says what each of them does. */
import { join } from "node:path"

export interface Peer {
  readonly name: string
  readonly title: string
  readonly file: string
  /** Whether it has the features of layerhost's pipeline, which then show in its answers. */
  readonly full: boolean
  /** Workloads that it answers with less than is asked, and what is missing. */
  readonly less: Readonly<Record<string, string>>
}

const bare = { full: false, less: {} }
const full = { full: true, less: {} }
const file = (path: string): string => join(import.meta.dirname, "peers", path)

export const peers: ReadonlyArray<Peer> = [
  { ...bare, name: "node", title: "bare node:http", file: file("node.ts") },
  { ...full, name: "layerhost", title: "layerhost", file: file("layerhost/main.ts") },
  { ...full, name: "fastify-full", title: "Fastify, same features", file: file("packages/fastifyFull.ts") },
  { ...full, name: "express-full", title: "Express, same features", file: file("packages/express.ts") },
  { ...full, name: "nestjs-full", title: "NestJS on Fastify, same features", file: file("packages/nestjs.ts") },
  {
    ...bare,
    name: "fastify",
    title: "Fastify, bare",
    file: file("packages/fastify.ts"),
    less: { W3: "not compressed" }
  },
  {
    ...bare,
    name: "effect",
    title: "Effect HttpApi, bare",
    file: file("effect.ts"),
    less: { W3: "not compressed", W5: "without the fields" }
  }
]

/** What everything is compared with. */
export const baseline = "node"
export const rival = "fastify-full"
