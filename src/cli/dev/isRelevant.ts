/** Which changes start a service anew: of its sources, its configuration files, its manifest, and of packages with plugins. */
import { basename, dirname, join, sep } from "node:path"

/** Whether a change of a path matters to the service in a directory. `generated` is the file that the generator writes. */
export const isRelevant = (path: string, directory: string, generated: string): boolean => {
  if (path === generated) return false
  // A running service may write files of its own beside its manifest.
  if (dirname(path) === directory) {
    return /^(src|appsettings.*\.(json|ya?ml)|package\.json|tsconfig\.json)$/i.test(basename(path))
  }
  const sources = join(directory, "src")
  if (path.startsWith(sources + sep)) return !isTemporary(path.slice(sources.length))
  return /\.([mc]?[jt]s|json)$/.test(path)
}

/** What editors and the generator write for a moment: hidden files, backups, and everything below hidden directories. */
const isTemporary = (path: string): boolean =>
  /(~|\.swp|\.tmp)$/.test(path) || basename(path) === "4913" || path.split(sep).some((part) => /^\.[^.]/.test(part))
