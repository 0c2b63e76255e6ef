import { roundDecimal } from '@bezel/protocol/wire'
import { decimal, type Order, type PendingUpdate } from '@bezel/sdk'

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

/** Significant digits that an amount below 1 keeps at least. */
const AMOUNT_DIGITS = 3

/** Significant digits that a price or size below 1 keeps at least, so that prices of a cheap coin can be told apart. */
const PRICE_DIGITS = 5

/** Digits that a price on the screen has. Whole digits are never rounded away. */
const SCREEN_DIGITS = 6

const PRICE_PLACES = 6

const AMOUNT_PLACES = 6

const VALUE_PLACES = 2

const LEVERAGE_PLACES = 3

/**
 * Rounds a number for people to `places` decimals, half away from zero. A small one keeps three significant digits
 * instead, so that only zero is shown as 0. `--json` prints all digits.
 */
export function shortDecimal(text: string, places: number): string {
  return rounded(text, places, AMOUNT_DIGITS)
}

/** Rounds a price for people to six decimals, or to five significant digits where that shows more of it. */
export function shortPrice(text: string): string {
  return rounded(text, PRICE_PLACES, PRICE_DIGITS)
}

/** Rounds a price for the screen to six digits, half away from zero; of one below 1 five digits that say most. */
export function tightPrice(text: string): string {
  const whole = text.replace('-', '').split('.')[0]!
  return whole === '0' ? shortPrice(text) : shortDecimal(text, Math.max(0, SCREEN_DIGITS - whole.length))
}

/** Rounds a size in base units for people, as prices are rounded. */
export function shortSize(text: string): string {
  return rounded(text, PRICE_PLACES, PRICE_DIGITS)
}

/** Rounds tokens that are there, were paid or would be paid to six decimals: a balance, collateral, a fee, a payout. */
export function shortAmount(text: string): string {
  return shortDecimal(text, AMOUNT_PLACES)
}

/** Rounds a mere valuation, dollars and percents to two decimals: the profit of an open position, a notional. */
export function shortValue(text: string): string {
  return shortDecimal(text, VALUE_PLACES)
}

/** Returns a leverage as `10x`, rounded to three decimals, which is all that the contracts have. */
export function shortLeverage(text: string): string {
  return `${shortDecimal(text, LEVERAGE_PLACES)}x`
}

/** Returns a fraction of one as percent, rounded to four decimals: `0.0006` is `0.06 %`. */
export function percentOf(rate: string): string {
  return `${shortDecimal(decimal.mul(rate, '100'), 4)} %`
}

/** Returns a change that waits for the oracle, in a few words: `leverage 5x, 300 USDC taken`. */
export function pendingWords({ kind, leverage, collateralDelta, status }: PendingUpdate, symbol: string): string {
  const amount = shortAmount(collateralDelta.replace('-', ''))
  const moves = collateralDelta.startsWith('-') ? `${amount} ${symbol} to come` : `${amount} ${symbol} taken`
  const words = [`${kind} ${shortLeverage(leverage)}`, ...(amount === '0' ? [] : [moves])]
  return [...words, ...(status === 'timed_out' ? ['timed out'] : [])].join(', ')
}

function rounded(text: string, places: number, digits: number): string {
  const isUnlimited = text.replace('-', '').split('.')[0]!.length > UNLIMITED_DIGITS
  return isUnlimited ? 'unlimited' : roundDecimal(text, places, digits)
}

/** Formats epoch milliseconds as a UTC time: `12:04:31`. For what is of today: prices and the screen. */
export function shortTime(ms: number): string {
  return new Date(ms).toISOString().slice(11, 19)
}

/** The last time that a date can have, in epoch milliseconds. The interface allows later ones. */
const LAST_DATE_MS = 8_640_000_000_000_000

/** Formats epoch milliseconds as a UTC date and time: `2026-11-15 12:04:31`. */
export function dateAndTime(ms: number): string {
  return new Date(Math.min(ms, LAST_DATE_MS)).toISOString().slice(0, 19).replace('T', ' ')
}

/** Replaces control characters in foreign text, which could move the cursor or forge lines on a terminal. */
export function plainText(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, ' ')
}

/** Returns text of others as the screen shows it: each character takes one column. */
export function screenText(text: string): string {
  return plainText(text).replace(/[^ -~]/g, '?')
}

/** A space at which `wrapWords` breaks no line. It prints as any other. */
export const NO_BREAK = '\u00a0'

/**
 * Breaks a text at its spaces into lines of at most `room` characters. A word is never cut: a wider one has a line of
 * its own, from which it can still be copied.
 */
export function wrapWords(text: string, room: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + 1 + word.length <= room) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines.map((line) => line.replaceAll(NO_BREAK, ' '))
}

/** Returns a painted text without its colours. */
export function unpainted(text: string): string {
  // oxlint-disable-next-line no-control-regex
  return text.replace(/\u001b\[\d+m/g, '')
}

/** Returns the number of columns that a painted line takes. */
export function visibleWidth(line: string): number {
  return unpainted(line).length
}

/**
 * Shortens a line to the width of the screen between two words, so that no number loses digits. Only a word that is
 * wider than the screen is cut. What was shortened ends with `…` and has no colours.
 */
export function clipLine(line: string, width: number): string {
  if (visibleWidth(line) <= width) return line
  const bare = unpainted(line)
  const end = bare.lastIndexOf(' ', width - 2)
  return end > 0 ? `${bare.slice(0, end).trimEnd()} …` : `${bare.slice(0, width - 1)}…`
}
