/** The tests' stand-in for the secret server, in a process of its own. */
import { openBao } from "../../../../test/SecretStore/support/server/Reply.ts"
import { StandIn } from "../../../../test/SecretStore/support/server/StandIn.ts"

const server = new StandIn(() => Date.now(), { flavour: openBao })
await server.start()
// What it was asked is of interest in tests, and would only fill memory.
server.served.push = () => 0
process.send!({ url: server.url.href, token: server.root })
process.on("disconnect", () => process.exit())
