import { styleFor, type Style, plainText } from './text.ts'
import type { StreamStatus } from '@bezel/sdk'

/** The part of a stream that output needs. */
export interface OutputStream {
  write(text: string): unknown
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
  readonly rows?: number | undefined
}

interface OutputOptions {
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  readonly env: Readonly<Record<string, string | undefined>>
  readonly isJson: boolean
}

/** The output of a command: answers go to stdout, everything else to stderr. Secrets are never printed. */
export interface Output {
  readonly isJson: boolean
  /** True when stdout is a terminal that shows text (no `--json`). */
  readonly isTerminal: boolean
  /** True when `progress` draws over its own line, so that it may count seconds. */
  readonly isProgressInPlace: boolean
  readonly style: Style
  readonly width: number | undefined
  /** Prints the answer of a command, as one JSON document or as lines. Called once. */
  answer(document: unknown, lines: () => readonly string[]): void
  /** Prints one of many events as they come, as one line of JSON or as lines of text. */
  event(document: unknown, lines: () => readonly string[]): void
  /** Replaces the lines shown before, on a terminal. */
  redraw(lines: readonly string[]): void
  /** Prints a sentence beside the answer. */
  note(text: string): void
  /** Shows the current step: in place on a terminal, elsewhere one line for each change. */
  progress(text: string): void
  /** Registers a secret that must never be printed from now on. */
  hide(secret: string): void
}

const CLEAR_LINE = '\r\u001b[2K'

const HIDDEN = '[hidden]'

/** Creates the output of one command. */
export function createOutput({ stdout, stderr, env, isJson }: OutputOptions): Output {
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

  function print(lines: readonly string[]): void {
    if (lines.length > 0) write(stdout, `${lines.join('\n')}\n`)
  }

  return {
    isJson,
    isTerminal,
    isProgressInPlace: stderr.isTTY === true,
    width: isTerminal ? stdout.columns : undefined,
    style: styleFor(isTerminal, env),
    answer: (document, lines) => (isJson ? write(stdout, `${JSON.stringify(document, null, 2)}\n`) : print(lines())),
    event: (document, lines) => (isJson ? write(stdout, `${JSON.stringify(document)}\n`) : print(lines())),
    redraw(lines) {
      // Lines beyond the height of the terminal would scroll, and could not be drawn over.
      const fitting = lines.slice(0, Math.max(1, (stdout.rows ?? 25) - 1))
      const up = drawnLines === 0 ? '' : `\u001b[${drawnLines}A`
      write(stdout, `${up}${fitting.map((line) => `\u001b[2K${line}\n`).join('')}\u001b[J`)
      drawnLines = fitting.length
    },
    note: (text) => write(stderr, `${text}\n`),
    progress(text) {
      if (text === shown) return
      if (stderr.isTTY === true) stderr.write(safe(`${CLEAR_LINE}${text}`))
      else stderr.write(safe(`${text}\n`))
      shown = text
    },
    hide: (secret) => secrets.add(secret),
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
