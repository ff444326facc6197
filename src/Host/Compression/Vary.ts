/**
 * The header `Vary`: by which headers of a request an answer differs.
 */
import * as Memo from "../Memo.ts"

/** The value with one more name, unless it is there or `*` stands for all. */
export const add = (vary: string | undefined, name: string): string => withName(name)(vary ?? "")

const withName = Memo.make((name: string) =>
  Memo.make((vary: string): string => {
    if (vary.trim() === "") return name
    const names = vary.toLowerCase().split(",")
    const isThere = names.some((each) => each.trim() === "*" || each.trim() === name.toLowerCase())
    return isThere ? vary : `${vary}, ${name}`
  })
)
