import { spellCommands, type Typing } from './advice.ts'
import { NO_BREAK, styleFor, type Style, plainText, visibleWidth, wrapWords } from './text.ts'
import type { StreamStatus } from '@bezel/sdk'

/** The part of a stream that output needs. */
export interface OutputStream {
  write(text: string): unknown
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
  readonly rows?: number | undefined
  on?(event: 'resize', listener: () => void): unknown
  off?(event: 'resize', listener: () => void): unknown
}

/** A terminal for commands that draw on the whole of it. */
export interface Terminal {
  /** Returns its size as it is now. */
  size(): { readonly columns: number; readonly rows: number }
  /** Writes text with control sequences. */
  write(text: string): void
  /** Calls the listener after each change of the size. Returns what ends that. */
  onResize(listener: () => void): () => void
}

interface OutputOptions {
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  readonly env: Readonly<Record<string, string | undefined>>
  readonly isJson: boolean
  readonly typing: Typing
}

/** The output of a command: answers go to stdout, everything else to stderr. Secrets are never printed. */
export interface Output {
  readonly isJson: boolean
  /** True when stdout is a terminal that shows text (no `--json`). */
  readonly isTerminal: boolean
  /** The terminal to draw on; `undefined` where text can't be placed: no terminal, a dumb one, or `--json`. */
  readonly terminal: Terminal | undefined
  /** True when `progress` draws over its own line, so that it may count seconds. */
  readonly isProgressInPlace: boolean
  readonly style: Style
  readonly width: number | undefined
  /** The way in which commands of remedies are spelled. `note` spells those of its text by itself. */
  readonly typing: Typing
  /** Prints the answer of a command, as one JSON document or as lines. Called once. */
  answer(document: unknown, lines: () => readonly string[]): void
  /** Prints one of many events as they come, as one line of JSON or as lines of text. */
  event(document: unknown, lines: () => readonly string[]): void
  /** Replaces the lines shown before, on a terminal. */
  redraw(lines: readonly string[]): void
  /** Prints a sentence beside the answer. */
  note(text: string): void
  /** Prints lines beside the answer that fit the page already. */
  noteLines(lines: readonly string[]): void
  /** Shows the current step: in place on a terminal, elsewhere one line for each change. */
  progress(text: string): void
  /** Registers a secret that must never be printed from now on. */
  hide(secret: string): void
}

const CLEAR_LINE = '\r\u001b[2K'

const HIDDEN = '[hidden]'

/** Creates the output of one command. */
export function createOutput({ stdout, stderr, env, isJson, typing }: OutputOptions): Output {
  const secrets = new Set<string>()
  const isTerminal = stdout.isTTY === true && !isJson
  let shown = ''
  let drawnLines = 0

  function safe(text: string): string {
    return [...secrets].reduce((clean, secret) => clean.replaceAll(new RegExp(escape(secret), 'gi'), HIDDEN), text)
  }

  function write(stream: OutputStream, text: string): void {
    clearProgress()
    stream.write(safe(text))
  }

  function clearProgress(): void {
    if (shown !== '' && stderr.isTTY === true) stderr.write(CLEAR_LINE)
    shown = ''
  }

  function print(lines: readonly string[], stream = stdout): void {
    if (lines.length > 0) write(stream, `${lines.join('\n')}\n`)
  }

  return {
    isJson,
    isTerminal,
    terminal: isTerminal && env['TERM'] !== 'dumb' ? terminalOf(stdout, safe) : undefined,
    isProgressInPlace: stderr.isTTY === true,
    // A terminal that has not been told its size has 0 columns.
    width: isTerminal ? stdout.columns || undefined : undefined,
    style: styleFor(isTerminal, env),
    typing,
    answer: (document, lines) => (isJson ? write(stdout, `${JSON.stringify(document, null, 2)}\n`) : print(lines())),
    event: (document, lines) => (isJson ? write(stdout, `${JSON.stringify(document)}\n`) : print(lines())),
    redraw(lines) {
      // Lines beyond the height of the terminal would scroll, and could not be drawn over.
      const room = Math.max(1, (stdout.rows ?? USUAL_SIZE.rows) - 1)
      const rest = lines.length - room + 1
      const fitting = rest > 1 ? [...lines.slice(0, room - 1), `${rest} more lines do not fit`] : lines
      const up = drawnLines === 0 ? '' : `\u001b[${drawnLines}A`
      write(stdout, `${up}${fitting.map((line) => `\u001b[2K${line}\n`).join('')}\u001b[J`)
      drawnLines = fitting.length
    },
    note: (text) => write(stderr, `${fitted(spellCommands(text, typing, NO_BREAK), stderr)}\n`),
    noteLines: (lines) => print(lines, stderr),
    progress(text) {
      if (text === shown) return
      if (stderr.isTTY === true) stderr.write(safe(`${CLEAR_LINE}${text}`))
      else stderr.write(safe(`${text}\n`))
      shown = text
    },
    hide: (secret) => secrets.add(secret),
  }
}

/** Breaks the lines of a text at their spaces where a terminal is too narrow for them, and none inside a command. */
function fitted(text: string, { isTTY, columns }: OutputStream): string {
  const room = isTTY === true && columns ? columns : Number.POSITIVE_INFINITY
  const fit = (line: string): string[] => (visibleWidth(line) > room ? wrapWords(line, room) : [line])
  return text.split('\n').flatMap(fit).join('\n').replaceAll(NO_BREAK, ' ')
}

/** The size of a terminal that does not tell its own. */
const USUAL_SIZE = { columns: 80, rows: 24 }

function terminalOf(stdout: OutputStream, safe: (text: string) => string): Terminal {
  return {
    size: () => ({ columns: stdout.columns || USUAL_SIZE.columns, rows: stdout.rows || USUAL_SIZE.rows }),
    write: (text) => void stdout.write(safe(text)),
    onResize(listener) {
      stdout.on?.('resize', listener)
      return () => void stdout.off?.('resize', listener)
    },
  }
}

function escape(text: string): string {
  return text.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')
}

/** Tells the user that live data is interrupted. The stream reconnects by itself. */
export function showStreamStatus(output: Output, status: StreamStatus): void {
  if (status.state !== 'waiting') return
  const seconds = Math.ceil(status.retryInMs / 1000)
  output.note(`The connection is lost (${plainText(status.reason)}). Trying again in ${seconds} s.`)
}
