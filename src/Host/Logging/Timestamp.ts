/** Points in time as log lines show them. */

const threeDigits = Array.from({ length: 1000 }, (_, i) => String(i).padStart(3, "0"))

let second = Number.NaN
let prefix = ""

/** ISO 8601, UTC, with milliseconds. Lines of one second share most of the text, which is the dearest part of a line. */
export const toIso = (time: number): string => {
  const millis = Math.trunc(time)
  const ofTime = Math.floor(millis / 1000)
  if (ofTime !== second) {
    prefix = new Date(time).toISOString().slice(0, -4)
    second = ofTime
  }
  return `${prefix}${threeDigits[millis - ofTime * 1000]!}Z`
}
