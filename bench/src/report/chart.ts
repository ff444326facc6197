/** Bars of throughput beside bare node:http, as an SVG that reads on light and on dark ground. */
import type { Spread } from "../statistics.ts"

export interface Group {
  readonly name: string
  readonly title: string
  readonly bars: ReadonlyArray<{ readonly peer: number; readonly value: Spread }>
}

const colours = ["#888888", "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]

const [left, top, height, barWidth, gap] = [40, 20, 220, 16, 28]

export const chart = (peers: ReadonlyArray<string>, groups: ReadonlyArray<Group>): string => {
  const most = Math.max(1, ...groups.flatMap(({ bars }) => bars.map(({ value }) => value.max)))
  const y = (value: number) => top + height * (1 - value / most)
  const groupWidth = peers.length * barWidth + gap
  const width = left + groups.length * groupWidth
  const text = (x: number, y: number, text: string, anchor = "start") =>
    `<text x="${x}" y="${y.toFixed(1)}" text-anchor="${anchor}">${text}</text>`
  const lines = [0, 0.25, 0.5, 0.75, 1].map(
    (value) =>
      `<line x1="${left}" x2="${width}" y1="${y(value).toFixed(1)}" y2="${y(value).toFixed(1)}" stroke="#8884"/>` +
      text(left - 6, y(value) + 4, value.toFixed(2), "end")
  )
  const drawn = groups.flatMap(({ name, title, bars }, group) => {
    const start = left + gap / 2 + group * groupWidth
    return [
      ...bars.map(({ peer, value }) => {
        const x = start + peer * barWidth
        const middle = x + barWidth / 2 - 1
        return (
          `<rect x="${x}" y="${y(value.median).toFixed(1)}" width="${barWidth - 2}" height="${(y(0) - y(value.median)).toFixed(1)}" fill="${colours[peer]}"/>` +
          `<line x1="${middle}" x2="${middle}" y1="${y(value.min).toFixed(1)}" y2="${y(value.max).toFixed(1)}" stroke="#888"/>`
        )
      }),
      text(start + (peers.length * barWidth) / 2, top + height + 17, name, "middle"),
      text(start + (peers.length * barWidth) / 2, top + height + 32, title, "middle")
    ]
  })
  const legend = peers.map((peer, i) => {
    const [x, at] = [left + (i % 3) * (width / 3), top + height + 60 + Math.floor(i / 3) * 18]
    return `<rect x="${x}" y="${at - 10}" width="11" height="11" fill="${colours[i]}"/>${text(x + 16, at, peer)}`
  })
  const total = top + height + 70 + Math.ceil(peers.length / 3) * 18
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${total}" font-family="sans-serif" font-size="12" fill="#777">`,
    ...lines,
    ...drawn,
    ...legend,
    "</svg>"
  ].join("\n")}\n`
}
