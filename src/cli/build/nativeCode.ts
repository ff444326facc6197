/** Refuses native code, which cannot stand in a file of JavaScript, as soon as it is met. */
import { basename } from "node:path"
import type { Plugin } from "rolldown"

export const nativeCode: Plugin = {
  name: "layerhost:native-code",
  load(id) {
    if (!id.endsWith(".node")) return
    const [, name] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(id.replaceAll("\\", "/")) ?? []
    this.error(
      `${name ?? basename(id)} has native code (${basename(id)}), which cannot stand in one file with the rest: leave it out with ` +
        `--external ${name ?? "and the name of its package"}, and install it where the service runs`
    )
  }
}
