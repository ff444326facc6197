import * as HttpApiMiddleware from "effect/http-api/HttpApiMiddleware"
import * as HttpApiSecurity from "effect/http-api/HttpApiSecurity"
import { Unauthorized } from "./CredentialsErrors.ts"

/** Lets only callers with the bearer token through. */
export class Authorization extends HttpApiMiddleware.Service<Authorization>()("credentials/Authorization", {
  security: { bearer: HttpApiSecurity.bearer },
  error: Unauthorized
}) {}
