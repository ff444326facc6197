/** How a request for credentials can fail, each as a problem (RFC 9457). */
import * as HttpApiError from "effect/http-api/HttpApiError"
import * as Schema from "effect/Schema"

/** No token, or not the right one. */
export class Unauthorized extends HttpApiError.Problem<Unauthorized>()("Unauthorized", {
  type: "about:blank",
  status: 401,
  title: "Unauthorized"
}) {}

/** The storage found the credential invalid. */
export class CredentialRefused extends HttpApiError.Problem<CredentialRefused>()(
  "CredentialRefused",
  { type: "about:blank", status: 400, title: "Bad Request" },
  { validationErrors: Schema.Array(Schema.Struct({ field: Schema.String, validationMessage: Schema.String })) }
) {}

/** No credential has this id. */
export class CredentialNotFound extends HttpApiError.Problem<CredentialNotFound>()("CredentialNotFound", {
  type: "about:blank",
  status: 404,
  title: "Not Found"
}) {}

/** An update would change the credential's type, which its id fixes. */
export class CredentialTypeConflict extends HttpApiError.Problem<CredentialTypeConflict>()("CredentialTypeConflict", {
  type: "about:blank",
  status: 409,
  title: "Conflict"
}) {}

/** The storage is away; a later retry may help. */
export class StorageUnavailable extends HttpApiError.Problem<StorageUnavailable>()("StorageUnavailable", {
  type: "about:blank",
  status: 503,
  title: "Service Unavailable"
}) {}
