import { Host } from "layerhost"
import { hello } from "./HelloPlugin.ts"

Host.runMain([hello])
