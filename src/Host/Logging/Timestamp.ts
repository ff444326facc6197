/** Points in time as log lines show them. */

let second = Number.NaN
let prefix = ""

/** ISO 8601, UTC, with milliseconds. Lines of one second share most of the text, which is the dearest part of a line. */
export const toIso = (date: Date): string => {
  const time = date.getTime()
  const ofTime = Math.floor(time / 1000)
  if (ofTime !== second) {
    prefix = date.toISOString().slice(0, -4)
    second = ofTime
  }
  return `${prefix}${String(time - ofTime * 1000).padStart(3, "0")}Z`
}
