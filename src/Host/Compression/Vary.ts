/**
 * The header `Vary`: by which headers of a request an answer differs.
 */

/** The value with one more name, unless it is there or `*` stands for all. */
export const add = (vary: string | undefined, name: string): string => {
  if (vary === undefined || vary.trim() === "") return name
  const names = new Set(vary.split(",").map((each) => each.trim().toLowerCase()))
  return names.has("*") || names.has(name.toLowerCase()) ? vary : `${vary}, ${name}`
}
