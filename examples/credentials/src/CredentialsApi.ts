/** The HTTP interface of the service: definitions only, so that a client can use them without the server. */
import * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiEndpoint from "effect/http-api/HttpApiEndpoint"
import * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import * as Schema from "effect/Schema"
import { Secret, SecretId } from "layerhost/SecretStore"
import { Authorization } from "./Authorization.ts"
import { Buckets } from "./Buckets.ts"
import {
  CredentialNotFound,
  CredentialRefused,
  CredentialTypeConflict,
  StorageUnavailable
} from "./CredentialsErrors.ts"

const CredentialId = SecretId.schema(Buckets)
const Reference = Schema.Struct({ id: CredentialId })

export class CredentialsGroup extends HttpApiGroup.make("credentials")
  .add(
    HttpApiEndpoint.post("create", "/:bucket", {
      params: { bucket: Schema.Literals(["ApiKeys", "DatabaseCredentials", "ServiceAccounts"]) },
      payload: Secret.SecretInput,
      success: HttpApiSchema.WithHeaders(Reference.pipe(HttpApiSchema.status(201)), { location: Schema.String }),
      error: [CredentialRefused, StorageUnavailable]
    }),
    HttpApiEndpoint.get("get", "/:id", {
      params: { id: CredentialId },
      success: Secret.Secret,
      error: [CredentialNotFound, StorageUnavailable]
    }),
    HttpApiEndpoint.put("update", "/:id", {
      params: { id: CredentialId },
      payload: Secret.SecretInput,
      success: Reference,
      error: [CredentialRefused, CredentialNotFound, CredentialTypeConflict, StorageUnavailable]
    }),
    HttpApiEndpoint.delete("delete", "/:id", {
      params: { id: CredentialId },
      error: StorageUnavailable
    })
  )
  .prefix("/credentials")
  .middleware(Authorization) {}

/** Create, read, update and delete credentials. */
export class CredentialsApi extends HttpApi.make("credentials").add(CredentialsGroup) {}
