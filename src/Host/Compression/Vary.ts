/**
 * The header `Vary`: by which headers of a request an answer differs.
 */

/** The value with one more name, unless it is there or `*` stands for all. */
export const add = (vary: string | undefined, name: string): string => {
  if (vary === undefined || vary.trim() === "") return name
  const names = vary.toLowerCase().split(",")
  const isThere = names.some((each) => each.trim() === "*" || each.trim() === name.toLowerCase())
  return isThere ? vary : `${vary}, ${name}`
}
