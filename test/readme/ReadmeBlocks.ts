/** The fenced blocks of the README, as its test reads them. */

/** One fenced block: its language, what stands behind that on the fence, and its text. */
export interface Block {
  readonly language: string
  readonly info: string
  readonly text: string
  readonly line: number
}

/** Reads every fenced block of a Markdown text. */
export const readBlocks = (markdown: string): ReadonlyArray<Block> => {
  const blocks: Array<Block> = []
  const lines = markdown.split("\n")
  for (let i = 0; i < lines.length; i++) {
    const fence = /^```(\w+)\s*(.*)$/.exec(lines[i]!)
    if (fence === null) continue
    const end = lines.indexOf("```", i + 1)
    blocks.push({
      language: fence[1]!,
      info: fence[2]!.trim(),
      text: lines.slice(i + 1, end).join("\n"),
      line: i + 1
    })
    i = end
  }
  return blocks
}

/** A command of a console block with the output that the README shows. */
export interface Step {
  readonly command: string
  readonly output: string
}

/** Splits a console block: lines that begin with `$ ` are commands, continued by `\`; the rest is output. */
export const readSteps = (text: string): ReadonlyArray<Step> => {
  const steps: Array<{ command: string; output: string }> = []
  let isContinued = false
  for (const line of text.split("\n")) {
    const current = steps.at(-1)
    if (line.startsWith("$ ")) steps.push({ command: line.slice(2), output: "" })
    else if (current !== undefined && isContinued) current.command += `\n${line}`
    else if (current !== undefined) current.output += `${line}\n`
    isContinued = line.endsWith("\\") && (line.startsWith("$ ") || isContinued)
  }
  return steps.map(({ command, output }) => ({ command, output: output.trim() }))
}

/** Whether an output is the one shown; `…` stands for anything. */
export const matches = (shown: string, actual: string): boolean =>
  new RegExp(`^${shown.split("…").map(RegExp.escape).join("[^]*?")}$`).test(actual.trim())
