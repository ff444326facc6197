import { Host } from "layerhost"
import { plugins } from "./plugins.generated.ts"

Host.runMain(plugins)
