import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Layer from "effect/Layer"
import { Host, HostLive } from "layerhost"
import { plugins } from "../../../examples/credentials/src/plugins.generated.ts"

// One call: reads the configuration, builds, listens, and runs until SIGTERM or SIGINT.
export const inside = () => Host.runMain(plugins)

// The same as an effect, for a main program of your own. `teardown` ends the process with status 0 on a signal.
export const outside = () => Host.run(plugins).pipe(NodeRuntime.runMain({ teardown: Host.teardown }))

// As a layer, beside other layers of your program.
export const asLayer = () => HostLive(plugins).pipe(Layer.launch, NodeRuntime.runMain)
