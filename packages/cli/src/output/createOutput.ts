import { styleFor, type Style } from './style.ts'

/** The part of a stream that output needs. */
export interface OutputStream {
  write(text: string): unknown
  readonly isTTY?: boolean | undefined
  readonly columns?: number | undefined
  readonly rows?: number | undefined
}

export interface OutputOptions {
  readonly stdout: OutputStream
  readonly stderr: OutputStream
  readonly env: Readonly<Record<string, string | undefined>>
  readonly isJson: boolean
}

/** Where everything a command says goes: answers to stdout, the rest to stderr. No secret passes. */
export interface Output {
  readonly isJson: boolean
  /** Whether stdout is a terminal that shows text. */
  readonly isTerminal: boolean
  /** Whether `progress` draws over itself, so that it may count seconds. */
  readonly isProgressInPlace: boolean
  readonly style: Style
  readonly width: number | undefined
  /** The answer of a command: one JSON document, or lines. Called once. */
  answer(document: unknown, lines: () => readonly string[]): void
  /** One of many, as they come: one line of JSON, or lines of text. */
  event(document: unknown, lines: () => readonly string[]): void
  /** Replaces the lines shown before, on a terminal. */
  redraw(lines: readonly string[]): void
  /** A sentence beside the answer. */
  note(text: string): void
  /** What is waited for: in place on a terminal, a line each time it changes elsewhere. */
  progress(text: string): void
  /** Must never be printed from here on. */
  hide(secret: string): void
}

const CLEAR_LINE = '\r\u001b[2K'
const HIDDEN = '[hidden]'

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
      // What does not fit would scroll, and could not be drawn over again.
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
