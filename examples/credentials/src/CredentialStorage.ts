import { SecretStorage } from "layerhost/SecretStore"
import { Buckets } from "./Buckets.ts"

/** Where the credentials are kept. */
export class CredentialStorage extends SecretStorage.Service<CredentialStorage>()(
  "credentials/CredentialStorage",
  Buckets
) {}
