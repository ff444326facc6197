/** What the command says where it cannot do what it was asked for: what happened, where, and what to do. */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as nodePath from "node:path"
import * as SecretId from "../../src/SecretStore/SecretId.ts"
import { Vault } from "./fixtures/vault.ts"
import { makeFiles } from "./generate/files.ts"
import { run } from "./inProcess.ts"

const vault = nodePath.join(import.meta.dirname, "fixtures/vault.ts")

/** A command line without `layerhost`, and what comes on standard input. */
type Line = string | readonly [line: string, input: string]

/** What someone sees who types the lines one after another in a directory with the files; the directory's own path is left out. */
const session = Effect.fnUntraced(function* (files: Readonly<Record<string, unknown>>, lines: ReadonlyArray<Line>) {
  const cwd = yield* makeFiles({ "package.json": { type: "module" }, ...files })
  let shown = "\n"
  for (const each of lines) {
    const [line, input] = typeof each === "string" ? [each, ""] : each
    const args = line.replace("VAULT", `--plugins=${vault}`).split(" ")
    const { status, stderr } = yield* Effect.promise(() => run({ cwd, args, input, environment: {} }))
    assert.notStrictEqual(status, 0, line)
    assert.notInclude(stderr, "canary")
    shown += `$ layerhost ${line.replace(" VAULT", "")}\n${stderr.trim().replaceAll(cwd, ".")}\n`
  }
  return shown
})

it.layer(NodeFileSystem.layer)("messages", (it) => {
  it.effect("of the command itself", () =>
    Effect.gen(function* () {
      expect(
        yield* session({}, [
          "frobnicate",
          "config lst",
          "config list --jsn",
          "config explain",
          "generate --check=perhaps",
          "secrets create ApiKeys --type Password",
          "secrets migrate --from files"
        ])
      ).toMatchInlineSnapshot(`
        "
        $ layerhost frobnicate
        ERROR
          Unknown subcommand "frobnicate" for "layerhost"
        $ layerhost config lst
        ERROR
          Unknown subcommand "lst" for "layerhost config"

          Did you mean this?
            list
        $ layerhost config list --jsn
        ERROR
          Unrecognized flag: --jsn in command layerhost config list

          Did you mean this?
            --json
        $ layerhost config explain
        ERROR
          Missing required argument: key
        $ layerhost generate --check=perhaps
        ERROR
          Invalid value for flag --check: "perhaps". Expected "true" | "yes" | "on" | "1" | "y" | "false" | "no" | "off" | "0" | "n"
        $ layerhost secrets create ApiKeys --type Password
        ERROR
          Invalid value for flag --type: "Password". Expected: "UsernamePassword" | "UsernamePasswordTotp" | "UsernamePasswordApiKey" | "Certificate"
        $ layerhost secrets migrate --from files
        ERROR
          Missing required flag: --to
        "
      `)
    })
  )

  it.effect("of config", () =>
    Effect.gen(function* () {
      const files = {
        "src/none.ts": "export const none = 1",
        "src/broken.ts": `throw new Error("no database here")`,
        "appsettings.yaml":
          "secretstore: { useLocalFileSystem: perhaps }\nhost: { urls: 'ftp://+:1', maxRequestSiz: 1 }"
      }
      expect(
        yield* session(files, [
          "config list",
          "config list --plugins=src/missing.ts",
          "config list --plugins=src/none.ts",
          "config list --plugins=src/broken.ts",
          "config check . more",
          "config explain src host:urls",
          "config explain host:nothing VAULT",
          "config explain . host:urls VAULT",
          "config explain host:url VAULT",
          "config check VAULT"
        ])
      ).toMatchInlineSnapshot(`
        "
        $ layerhost config list
        ERROR
          src/plugins.generated.ts does not exist: run \`layerhost generate\` in the service's directory, or name the module that exports its plugins with --plugins
        $ layerhost config list --plugins=src/missing.ts
        ERROR
          src/missing.ts does not exist: name the file that exports the service's plugins with --plugins
        $ layerhost config list --plugins=src/none.ts
        ERROR
          src/none.ts exports no plugins: export them as a list named plugins, or name another module with --plugins
        $ layerhost config list --plugins=src/broken.ts
        ERROR
          src/broken.ts cannot be imported: Error: no database here
        $ layerhost config check . more
        ERROR
          "more" is one argument too many; arguments of the service itself stand behind --
        $ layerhost config explain src host:urls
        ERROR
          The key stands before the directory: layerhost config explain host:urls src
        $ layerhost config explain host:nothing
        ERROR
          No section has the key host:nothing, and nothing sets it; \`layerhost config list\` prints every key
        $ layerhost config explain . host:urls
        ERROR
          The key stands before the directory: layerhost config explain host:urls .
        $ layerhost config explain host:url
        ERROR
          No section has the key host:url, and nothing sets it; did you mean host:urls?
        $ layerhost config check
        2 configuration errors:
          host:urls: ftp://+:1 is not a URL of the form http://host:port
              from ./appsettings.yaml:2:15 (plugin layerhost/host)
          secretstore:useLocalFileSystem: expected true or false, found "perhaps"
              from ./appsettings.yaml:1:36 (plugin layerhost/secret-store)
        1 warning:
          host:maxRequestSiz: unknown key; did you mean host:maxRequestSize?
              from ./appsettings.yaml:2:43 (plugin layerhost/host)
        "
      `)
    })
  )

  it.effect("of secrets", () =>
    Effect.gen(function* () {
      const files = {
        "src/others.ts": `export const plugins = []`,
        "appsettings.yaml": "secretstore: { useLocalFileSystem: true, localFileSystemPath: ./kept }"
      }
      const { id } = Option.getOrThrow(SecretId.fromKey(Vault, "Logins", "UsernamePassword", "0".repeat(32)))
      expect(
        yield* session(files, [
          "secrets list --plugins=src/others.ts",
          "secrets create VAULT",
          "secrets create ApiKeys canary VAULT",
          "secrets create Nowhere VAULT",
          "secrets list Shared VAULT",
          "secrets list --set=Third VAULT",
          "secrets create ApiKeys VAULT",
          ["secrets create ApiKeys VAULT", '{"password":"canary'],
          ["secrets create ApiKeys VAULT", "canary"],
          ["secrets create ApiKeys VAULT", "type: UsernamePassword"],
          [
            "secrets create ApiKeys --type=Certificate VAULT",
            "{type: UsernamePassword, username: a, password: canary}"
          ],
          "secrets get VAULT",
          "secrets get canary VAULT",
          `secrets get ${id} VAULT`,
          `secrets totp ${id} VAULT`,
          `secrets restore ${id} VAULT`,
          `secrets restore ${id} first VAULT`,
          "secrets encrypt VAULT",
          "secrets migrate --from=files --to=cloud VAULT",
          "secrets migrate --from=files --to=files VAULT",
          "secrets migrate --from=files:./nowhere --to=files VAULT",
          "secrets list VAULT -- --secretstore:encryptionKey=canary"
        ])
      ).toMatchInlineSnapshot(`
        "
        $ layerhost secrets list --plugins=src/others.ts
        ERROR
          The service has no plugin layerhost/secret-store, which says where secrets are kept: add it to the service's plugins
        $ layerhost secrets create
        ERROR
          Expected the name of a bucket as an argument; --help tells more
        $ layerhost secrets create ApiKeys canary
        ERROR
          The values of a secret are never taken from arguments: those stand in the list of processes and in the shell's history. Type them at the prompt, or give them on standard input: layerhost secrets create <bucket> < secret.json. If that was a value in use, change it.
        $ layerhost secrets create Nowhere
        ERROR
          There is no bucket "Nowhere"; expected one of ApiKeys, Logins, Shared
        $ layerhost secrets list Shared
        ERROR
          The bucket "Shared" is in several sets: choose one of Vault, Other with --set
        $ layerhost secrets list --set=Third
        ERROR
          There is no bucket set "Third"; expected one of Vault, Other
        $ layerhost secrets create ApiKeys
        ERROR
          Standard input is empty. Expected a secret in JSON or YAML, or a terminal to type it at
        $ layerhost secrets create ApiKeys
        ERROR
          Standard input is neither JSON nor YAML. Expected an object, for example {"type": "UsernamePassword", "username": …, "password": …}
        $ layerhost secrets create ApiKeys
        ERROR
          Standard input holds no secret. Expected an object, for example {"type": "UsernamePassword", "username": …, "password": …}
        $ layerhost secrets create ApiKeys
        ERROR
          The secret is invalid: username: Missing key; password: Missing key
        $ layerhost secrets create ApiKeys --type=Certificate
        ERROR
          The secret is a UsernamePassword, and --type says Certificate: correct one of them
        $ layerhost secrets get
        ERROR
          Expected the id of a secret as an argument; --help tells more
        $ layerhost secrets get canary
        ERROR
          That is no id of a secret in Vault, Other; \`layerhost secrets list\` prints the ids
        $ layerhost secrets get 6VgZxWRETi
        ERROR
          There is no secret with the id 6VgZxWRETi
        $ layerhost secrets totp 6VgZxWRETi
        ERROR
          A UsernamePassword has no one-time password; only a UsernamePasswordTotp has
        $ layerhost secrets restore 6VgZxWRETi
        ERROR
          Expected the number of a version as an argument; --help tells more
        $ layerhost secrets restore 6VgZxWRETi first
        ERROR
          Expected the number of a version; \`layerhost secrets history\` prints them
        $ layerhost secrets encrypt
        ERROR
          There is no key to encrypt with: set secretstore:encryptionKey or secretstore:encryptionKeyFile
        $ layerhost secrets migrate --from=files --to=cloud
        ERROR
          "cloud" is no place of secrets; expected files, files:<directory>, server, or config:<directory> for the section secretstore of other appsettings files
        $ layerhost secrets migrate --from=files --to=files
        ERROR
          --from and --to are the same: ./kept; choose another for one of them
        $ layerhost secrets migrate --from=files:./nowhere --to=files
        ERROR
          There is no directory ./nowhere to move secrets from; name it with --from files:<directory>
        $ layerhost secrets list -- --secretstore:encryptionKey=canary
        ERROR
          1 configuration error:
          secretstore:encryptionKey: expected 32 bytes in base64, as \`openssl rand -base64 32\` makes them, found a value that is not shown
              from argument --secretstore:encryptionKey (plugin layerhost/secret-store)
        "
      `)
    })
  )
})
