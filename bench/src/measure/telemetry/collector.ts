/** A collector that costs little, in a process of its own, whose answers are well or in one kind of trouble. */
import * as http from "node:http"
import type { AddressInfo } from "node:net"

const kind = process.argv[2] ?? "well"

const server = http.createServer((request, response) => {
  request.resume().on("end", () => {
    switch (kind) {
      case "well":
        response.writeHead(200).end()
        return
      case "refusing":
        response.writeHead(503).end("no")
        return
      case "asking to wait":
        response.writeHead(429, { "retry-after": "30" }).end("no")
        return
      case "closing mid-body":
        response.writeHead(200, { "content-length": "100" }).write("{")
        setImmediate(() => response.destroy())
        return
      case "slow":
        setTimeout(() => response.writeHead(200).end(), 30_000)
    }
  })
})
server.listen(0, "127.0.0.1", () =>
  process.send!({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
)
process.on("disconnect", () => process.exit())
