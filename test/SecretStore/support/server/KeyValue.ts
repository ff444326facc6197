/** The key-value engine, version 2. */
import { absent, data, type Engine, errors, type Flavour, nothing, type Reply } from "./Reply.ts"

interface Version {
  readonly data: unknown
  readonly created: string
  deleted: string
}

export type Documents = Map<string, Array<Version>>

/** What both servers keep of a document where they are not told otherwise. */
const maxVersions = 10

/** Versions that are gone are holes in the list. */
const oldestOf = (versions: ReadonlyArray<Version>) => Math.max(1, versions.length - maxVersions + 1)

const versionOf = (version: Version) => ({
  created_time: version.created,
  deletion_time: version.deleted,
  destroyed: false
})

const metadataOf = (versions: ReadonlyArray<Version>, number = versions.length) => ({
  version: number,
  ...versionOf(versions[number - 1]!),
  custom_metadata: null
})

export const make = (mount: string, documents: Documents, flavour: Flavour, now: () => number): Engine => {
  // Both servers write nanoseconds.
  const time = () => new Date(now()).toISOString().replace(/Z$/, "000001Z")

  const write = (path: string, body: Record<string, unknown>): Reply => {
    if (typeof body["data"] !== "object") return errors(400, "no data provided")
    const versions = documents.get(path) ?? []
    const cas = (body["options"] as { readonly cas?: number } | undefined)?.cas
    if (cas !== undefined && cas !== versions.length) {
      return errors(400, "check-and-set parameter did not match the current version")
    }
    versions.push({ data: body["data"], created: time(), deleted: "" })
    documents.set(path, versions)
    return data(metadataOf(versions))
  }

  const read = (path: string, query: URLSearchParams): Reply => {
    const asked = query.get("version") ?? ""
    if (!/^-?\d*$/.test(asked)) {
      return errors(400, `Field validation failed: error converting input for field "version": '' cannot parse value`)
    }
    const versions = documents.get(path) ?? []
    const number = Number(asked) > 0 ? Number(asked) : versions.length
    const version = versions[number - 1]
    if (version === undefined || number < oldestOf(versions)) return absent
    const metadata = metadataOf(versions, number)
    if (metadata.deletion_time !== "") return { ...data({ data: null, metadata }), status: 404 }
    return data({ data: version.data, metadata })
  }

  const readMetadata = (path: string): Reply => {
    const versions = documents.get(path)
    if (versions === undefined) return absent
    const oldest = oldestOf(versions)
    const kept = versions.map((version, i) => [i + 1, versionOf(version)] as const)
    return data({
      cas_required: false,
      created_time: versions[0]!.created,
      current_version: versions.length,
      custom_metadata: null,
      delete_version_after: "0s",
      max_versions: 0,
      oldest_version: oldest === 1 ? 0 : oldest,
      updated_time: versions.at(-1)!.created,
      versions: Object.fromEntries(kept.filter(([number]) => number >= oldest))
    })
  }

  const list = (folder: string, query: URLSearchParams): Reply => {
    const prefix = folder === "" || folder.endsWith("/") ? folder : `${folder}/`
    const below = [...documents.keys()].filter((path) => path.startsWith(prefix))
    const all = [...new Set(below.map((path) => /^[^/]+\/?/.exec(path.slice(prefix.length))![0]))].toSorted()
    const limit = Number(query.get("limit")) || undefined
    if (flavour.pages) {
      const keys = all.filter((key) => key > (query.get("after") ?? "")).slice(0, limit)
      return keys.length === 0 ? absent : data({ keys })
    }
    const unknown = ["after", "limit"].filter((name) => query.has(name))
    if (unknown.length === 0) return all.length === 0 ? absent : data({ keys: all })
    const warnings = [`Endpoint ignored these unrecognized parameters: [${unknown.join(" ")}]`]
    return data(all.length === 0 ? {} : { keys: all }, warnings)
  }

  return ({ body, method, path, query }) => {
    const [, kind, document] = new RegExp(`^${mount}/(data|metadata)(?:/|$)(.*)$`).exec(path) ?? []
    if (kind === undefined || document === undefined) return undefined
    switch (`${method} ${kind}`) {
      case "POST data":
        return write(document, body)
      case "GET data":
        return read(document, query)
      case "DELETE data": {
        const newest = documents.get(document)?.at(-1)
        if (newest !== undefined) newest.deleted ||= time()
        return nothing
      }
      case "DELETE metadata":
        documents.delete(document)
        return nothing
      case "GET metadata":
        return query.get("list") === "true" ? list(document, query) : readMetadata(document)
    }
    return errors(405, "1 error occurred:\n\t* unsupported operation\n\n")
  }
}
