/** What the backends do beneath, without them: the same files written and read, the same requests sent. */
import { randomUUID } from "node:crypto"
import { open, readFile, rename } from "node:fs/promises"
import { dirname } from "node:path"
import { Agent, request } from "@effect/platform-node/Undici"

export const readJson = async (file: string): Promise<unknown> => JSON.parse(await readFile(file, "utf8"))

/** Durable and atomic: a temporary file that is on disk gets the name, and then the name is on disk. */
export const writeDurably = async (file: string, text: string): Promise<void> => {
  const temporary = `${file}.${randomUUID()}.tmp`
  const opened = await open(temporary, "wx", 0o600)
  try {
    await opened.writeFile(text)
    await opened.sync()
  } finally {
    await opened.close()
  }
  await rename(temporary, file)
  const directory = await open(dirname(file))
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

export interface SecretServer {
  readonly url: string
  readonly token: string
}

const agent = new Agent()

const send = async (
  { url, token }: SecretServer,
  method: "GET" | "POST",
  path: string,
  body?: object
): Promise<any> => {
  const answer = await request(new URL(`v1/credentials/data/${path}`, url), {
    dispatcher: agent,
    method,
    headers: { "x-vault-token": token, ...(body && { "content-type": "application/json" }) },
    body: body === undefined ? null : JSON.stringify(body)
  })
  if (answer.statusCode !== 200) throw new Error(`${method} ${path}: ${answer.statusCode}`)
  return answer.body.json()
}

export const get = (server: SecretServer, path: string) => send(server, "GET", path)

export const create = (server: SecretServer, path: string, data: object) =>
  send(server, "POST", path, { data, options: { cas: 0 } })

/** Reads first, to write only over the version that was read. */
export const update = async (server: SecretServer, path: string, data: object) => {
  const { data: found } = await get(server, path)
  return send(server, "POST", path, { data, options: { cas: found.metadata.version } })
}
