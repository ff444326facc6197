/** The key-value engine, version 2. */
import { absent, data, type Engine, errors, nothing, type Reply } from "./Reply.ts"

interface Version {
  readonly data: unknown
  readonly created: string
  deleted: string
}

export type Documents = Map<string, Array<Version>>

const metadataOf = (versions: ReadonlyArray<Version>, number = versions.length) => {
  const version = versions[number - 1]!
  return {
    version: number,
    created_time: version.created,
    deletion_time: version.deleted,
    destroyed: false,
    custom_metadata: null
  }
}

export const make = (mount: string, documents: Documents, now: () => number): Engine => {
  const time = () => new Date(now()).toISOString()

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

  const read = (path: string): Reply => {
    const versions = documents.get(path)
    if (versions === undefined) return absent
    const metadata = metadataOf(versions)
    if (metadata.deletion_time !== "") return { ...data({ data: null, metadata }), status: 404 }
    return data({ data: versions.at(-1)!.data, metadata })
  }

  const list = (folder: string): Reply => {
    const prefix = folder === "" || folder.endsWith("/") ? folder : `${folder}/`
    const below = [...documents.keys()].filter((path) => path.startsWith(prefix))
    const keys = new Set(below.map((path) => /^[^/]+\/?/.exec(path.slice(prefix.length))![0]))
    return keys.size === 0 ? absent : data({ keys: [...keys].toSorted() })
  }

  return ({ body, method, path, query }) => {
    const [, kind, document] = new RegExp(`^${mount}/(data|metadata)/(.*)$`).exec(path) ?? []
    if (kind === undefined || document === undefined) return undefined
    switch (`${method} ${kind}`) {
      case "POST data":
        return write(document, body)
      case "GET data":
        return read(document)
      case "DELETE data": {
        const newest = documents.get(document)?.at(-1)
        if (newest !== undefined) newest.deleted ||= time()
        return nothing
      }
      case "DELETE metadata":
        documents.delete(document)
        return nothing
      case "GET metadata": {
        if (query.get("list") === "true") return list(document)
        const versions = documents.get(document)
        if (versions === undefined) return absent
        const all = versions.map((_, i) => [i + 1, metadataOf(versions, i + 1)])
        return data({ current_version: versions.length, versions: Object.fromEntries(all) })
      }
    }
    return errors(405, "1 error occurred:\n\t* unsupported operation\n\n")
  }
}
