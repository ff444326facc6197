import { Host } from "layerhost/Host"
import { plugins } from "./plugins.generated.ts"

Host.runMain(plugins)
