import { formatDecimal, scaleDecimalTruncated, type Decimal } from '@bezel/protocol/wire'
import type { Order } from '@bezel/sdk'

/** The colours of a terminal. On a stream without colours each function returns its text unchanged. */
export interface Style {
  bold(text: string): string
  dim(text: string): string
  good(text: string): string
  bad(text: string): string
  warn(text: string): string
}

const plain = (text: string): string => text

const paint =
  (code: number) =>
  (text: string): string =>
    text === '' ? '' : `\u001b[${code}m${text}\u001b[0m`

const PLAIN: Style = { bold: plain, dim: plain, good: plain, bad: plain, warn: plain }

const COLOURED: Style = { bold: paint(1), dim: paint(2), good: paint(32), bad: paint(31), warn: paint(33) }

/**
 * Returns no colours when the output is no terminal, when the user wants none (NO_COLOR) or when the terminal has none.
 */
export function styleFor(isTerminal: boolean, env: Readonly<Record<string, string | undefined>>): Style {
  const wantsNone = env['NO_COLOR'] !== undefined && env['NO_COLOR'] !== ''
  return isTerminal && !wantsNone && env['TERM'] !== 'dumb' ? COLOURED : PLAIN
}

/** Returns the colour of a side: green for long, red for short. */
export function paintSide({ side }: { readonly side: 'long' | 'short' }, style: Style): (text: string) => string {
  return side === 'long' ? style.good : style.bad
}

/** Returns the colour of a status: green for filled, red for a failed end, yellow for anything under way. */
export function paintStatus({ status }: Pick<Order, 'status'>, style: Style): (text: string) => string {
  if (status === 'filled') return style.good
  return ['rejected', 'timed_out'].includes(status) ? style.bad : style.warn
}

/** Digits that only an unlimited allowance has. */
const UNLIMITED_DIGITS = 30

/** Shortens a decimal to at most `places` decimals, cut toward zero. `--json` prints all of them. */
export function shortDecimal(text: string, places: number): string {
  if (text.split('.')[0]!.length > UNLIMITED_DIGITS) return 'unlimited'
  return formatDecimal(scaleDecimalTruncated(text as Decimal, places), places)
}

/** Formats epoch milliseconds as a UTC time: `12:04:31`. */
export function shortTime(ms: number): string {
  return new Date(ms).toISOString().slice(11, 19)
}

/** Formats epoch milliseconds as a UTC date and time: `2026-11-15 12:04`. */
export function dateAndTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 16).replace('T', ' ')
}

/** Replaces control characters in foreign text, which could move the cursor or forge lines on a terminal. */
export function plainText(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, ' ')
}
