import { Plugin } from "layerhost/Plugins"
import { Customers } from "./Customers.ts"

/** Gives customers to the plugins behind it. */
export const customers = Plugin.make({ id: "customers", services: Customers.layer })
