import type { PromptInput } from '../keys/readPassword.ts'
import type { Terminal } from '../output/createOutput.ts'
import type { ScreenSize } from './drawFrame.ts'
import { visibleWidth } from '../output/text.ts'

interface ScreenOptions {
  readonly terminal: Terminal
  readonly input: PromptInput
  /** Called for `q` and Ctrl-C. */
  readonly onLeave: () => void
  /** Called when everything has to be drawn again: another size, or Ctrl-L. */
  readonly onChange: () => void
}

/** A terminal that shows frames instead of lines that scroll. */
export interface Screen {
  size(): ScreenSize
  /** Shows a frame: one line for each row. Only lines that changed are written, all in one write. */
  draw(lines: readonly string[]): void
  /** Gives the terminal back as it was. Can be called any number of times. */
  close(): void
}

const ESC = '\u001b['

/** Alternate screen on, cursor hidden, no wrapping of wide lines. */
const ENTER = `${ESC}?1049h${ESC}?25l${ESC}?7l`

const LEAVE = `${ESC}0m${ESC}?7h${ESC}?25h${ESC}?1049l`

/** Marks of a frame, which terminals show as a whole. Those that do not know them ignore them. */
const [BEGIN_FRAME, END_FRAME] = [`${ESC}?2026h`, `${ESC}?2026l`]

const CLEAR = `${ESC}2J`

const LEAVE_KEYS = ['q', 'Q', '\u0003']

const CTRL_L = '\u000c'

/** Takes over the terminal until `close`. */
export function openScreen({ terminal, input, onLeave, onChange }: ScreenOptions): Screen {
  let drawn: readonly string[] | undefined
  let isOpen = true

  function drawAgain(): void {
    drawn = undefined
    onChange()
  }

  function onKeys(chunk: Buffer): void {
    for (const key of chunk.toString('utf8')) {
      if (LEAVE_KEYS.includes(key)) return onLeave()
      if (key === CTRL_L) drawAgain()
    }
  }

  const stopListening = terminal.onResize(drawAgain)
  if (input.isTTY === true) {
    input.setRawMode?.(true)
    input.on('data', onKeys)
    input.resume()
  }
  terminal.write(ENTER)
  return {
    size: terminal.size,
    draw(lines) {
      if (!isOpen) return
      const { columns } = terminal.size()
      const changed = lines.flatMap((line, row) => (drawn?.[row] === line ? [] : [lineAt(row, line, columns)]))
      const clear = drawn === undefined ? CLEAR : ''
      if (changed.length > 0) terminal.write(BEGIN_FRAME + clear + changed.join('') + END_FRAME)
      drawn = lines
    },
    close() {
      if (!isOpen) return
      isOpen = false
      stopListening()
      if (input.isTTY === true) {
        input.off('data', onKeys)
        input.setRawMode?.(false)
        input.pause()
      }
      terminal.write(LEAVE)
    },
  }
}

/** Returns what writes a line into its row. A line as wide as the terminal leaves nothing to erase. */
function lineAt(row: number, line: string, columns: number): string {
  return `${ESC}${row + 1};1H${line}${visibleWidth(line) < columns ? `${ESC}K` : ''}`
}
