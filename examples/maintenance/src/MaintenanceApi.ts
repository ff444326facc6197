/** What clients may ask: definitions only, so that a client needs no server code. */
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Schema from "effect/Schema"

class MaintenanceGroup extends HttpApiGroup.make("maintenance").add(
  HttpApiEndpoint.get("status", "/maintenance", { success: Schema.Struct({ isOn: Schema.Boolean }) })
) {}

/** Whether the service is under maintenance. */
export class MaintenanceApi extends HttpApi.make("maintenance").add(MaintenanceGroup) {}
