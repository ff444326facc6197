/** Every configuration key of the host and the secret store, as their sections declare it. */
import * as ConfigurationTree from "../../src/Host/Configuration/ConfigurationTree.ts"
import * as EffectiveValues from "../../src/Host/Configuration/EffectiveValues.ts"
import * as Explanation from "../../src/Host/Configuration/Explanation.ts"
import { hostSections } from "../../src/Host/HostConfiguration.ts"
import { secretStore } from "../../src/SecretStore/SecretStorePlugin.ts"
import { code, table } from "./markdown.ts"

const owned = secretStore.config.map((section) => ({ section, owner: secretStore.id }))
const sections = [...hostSections, ...owned]

/** Nothing is set. */
const tree: ConfigurationTree.ConfigurationTree = {
  root: ConfigurationTree.merge([]),
  assignments: [],
  files: [],
  directories: [],
  problems: [],
  warnings: []
}

/** A table for each owner. */
export const keys = (): string =>
  [hostSections, owned]
    .map((group) => {
      const rows = EffectiveValues.list(tree, group).map(({ key }) => {
        const about = Explanation.explain(tree, sections, key)
        return [
          code(key),
          about.expected ?? "",
          about.default === null ? "none" : about.default === "" ? "empty" : code(about.default),
          about.description ?? ""
        ]
      })
      return `### ${group[0]!.owner}\n\n${table(["key", "expects", "default", "meaning"], rows)}`
    })
    .join("\n\n")
