/** The paths of requests that are not traced. */

/** Whether a path is one of the given; a pattern that ends in `*` stands for all paths that begin like it. */
export const make = (patterns: ReadonlyArray<string>): ((path: string) => boolean) => {
  const exact = new Set(patterns.filter((pattern) => !pattern.endsWith("*")))
  const prefixes = patterns.filter((pattern) => pattern.endsWith("*")).map((pattern) => pattern.slice(0, -1))
  return (path) => exact.has(path) || prefixes.some((prefix) => path.startsWith(prefix))
}
