import * as Effect from "effect/Effect"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import * as HttpApiSchema from "effect/http-api/HttpApiSchema"
import type { SecretStorageError } from "layerhost/SecretStore"
import { CredentialStorage } from "./CredentialStorage.ts"
import { CredentialsApi } from "./CredentialsApi.ts"
import {
  CredentialNotFound,
  CredentialRefused,
  CredentialTypeConflict,
  StorageUnavailable
} from "./CredentialsErrors.ts"

/** The endpoints over the storage. */
export const CredentialsHandlers = HttpApiBuilder.group(
  CredentialsApi,
  "credentials",
  Effect.fnUntraced(function* (handlers) {
    const storage = yield* CredentialStorage
    return handlers.handleAll({
      create: ({ params, payload }) =>
        storage.create(params.bucket, payload).pipe(
          Effect.map((id) =>
            HttpApiSchema.withHeaders({ body: { id }, headers: { location: `/credentials/${id.id}` } })
          ),
          Effect.catchTags({ SecretInvalid: refused, ...backendErrors })
        ),
      get: ({ params }) =>
        storage
          .get(params.id)
          .pipe(Effect.catchTags({ SecretNotFound: notFound, SecretCorrupt: damaged, ...backendErrors })),
      update: ({ params, payload }) =>
        storage.update(params.id, payload).pipe(
          Effect.map((id) => ({ id })),
          Effect.catchTags({
            SecretInvalid: refused,
            SecretNotFound: notFound,
            SecretTypeMismatch: (error) => new CredentialTypeConflict({ detail: error.message }),
            SecretCorrupt: damaged,
            ...backendErrors
          })
        ),
      delete: ({ params }) => storage.delete(params.id).pipe(Effect.catchTags(backendErrors))
    })
  })
)

const notFound = (error: SecretStorageError.SecretNotFound) => new CredentialNotFound({ detail: error.message })

/** A damaged secret is nobody's request to mend: a 500, with the reason in the log. */
const damaged = (error: SecretStorageError.SecretCorrupt) => Effect.die(error)

const refused = ({ issues }: SecretStorageError.SecretInvalid) =>
  new CredentialRefused({
    detail: "The request is not valid.",
    validationErrors: issues.map(({ field, message }) => ({ field, validationMessage: message }))
  })

const unavailable = (error: SecretStorageError.BackendError) =>
  Effect.andThen(
    Effect.logError("The secret storage is not available", error),
    new StorageUnavailable({ detail: "The storage is not available." })
  )

const backendErrors = { SecretAccessDenied: unavailable, SecretBackendUnavailable: unavailable }
