import { BucketSet } from "layerhost/SecretStore"

/** The buckets of this service. The numbers are part of every id, so they never change. */
export const Buckets = BucketSet.make("Credentials", {
  ApiKeys: 0,
  DatabaseCredentials: 1,
  ServiceAccounts: 2
})
