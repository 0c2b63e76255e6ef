import { nearestName } from '@bezel/protocol/program'
import { parseDecimal, parseAddress, parsePathSymbol } from '@bezel/protocol/wire'
import type { MarketRecord } from '@bezel/sdk'
import { UsageError } from '../errors/cliError.ts'

/** Reads a market: `BTC/USD`, or the shorter `btc-usd` and `btc` that people type. */
export function readMarket(text: string): string {
  const upper = text.toUpperCase()
  const symbol = parsePathSymbol(/[/-]/.test(upper) ? upper : `${upper}/USD`)
  if (symbol !== undefined) return symbol
  throw new UsageError(
    `${JSON.stringify(text.slice(0, 40))} is no market; they look like BTC/USD. \`bezel markets\` lists them.`,
  )
}

/** Reads the markets of an option: `BTC/USD,eth`. */
export function readMarkets(text: string): string[] {
  return text.split(',').map((market) => readMarket(market.trim()))
}

/**
 * Returns the wanted markets in that order, or all when none is named. Throws with the nearest name for an unknown one.
 * `what` begins the complaint, for instance `--markets: `.
 */
export function requireMarkets(
  list: readonly MarketRecord[],
  wanted: readonly string[],
  what = '',
): readonly MarketRecord[] {
  if (wanted.length === 0) return list
  return wanted.map((symbol) => {
    const found = list.find((market) => market.symbol === symbol)
    if (found !== undefined) return found
    // Compares base symbols only: nearly all quote symbols are equal, and would make unrelated markets look alike.
    const base = nearestName(
      symbol.split('/')[0]!,
      list.map((market) => market.base),
    )
    const nearest = list.find((market) => market.base === base)?.symbol
    const hint = nearest === undefined ? '`bezel markets` lists them.' : `Did you mean ${nearest}?`
    throw new UsageError(`${what}There is no market ${symbol} on this chain. ${hint}`)
  })
}

/** Reads a number above zero, as the interface writes numbers. `what` begins the complaint: `--limit`, `SIZE`. */
export function readDecimal(text: string, what: string): string {
  const value = parseDecimal(text)
  if (value !== undefined && !value.startsWith('-') && value !== '0') return value
  throw new UsageError(`${what} is ${JSON.stringify(text.slice(0, 40))}, but it must be a number above 0, such as 0.5.`)
}

/** Reads the price of a stop, where 0 means none. `what` begins the complaint. */
export function readPrice(text: string, what: string): string {
  return text === '0' ? text : readDecimal(text, what)
}

/** Reads a whole number within bounds. `what` begins the complaint. */
export function readWhole(
  text: string,
  what: string,
  { min, max }: { readonly min: number; readonly max: number },
): number {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
  if (value >= min && value <= max) return value
  throw new UsageError(
    `${what} is ${JSON.stringify(text.slice(0, 40))}, but it must be a whole number from ${min} to ${max}.`,
  )
}

/** Reads one of a few words. `what` begins the complaint. */
export function readChoice<Choice extends string>(text: string, what: string, choices: readonly Choice[]): Choice {
  const found = choices.find((choice) => choice === text)
  if (found !== undefined) return found
  throw new UsageError(`${what} is ${JSON.stringify(text.slice(0, 40))}, but it must be one of ${choices.join(', ')}.`)
}

/** Reads the id of an order or position. `what` begins the complaint. */
export function readId(text: string, what: string): string {
  if (/^\d{1,20}$/.test(text)) return text
  throw new UsageError(`${what} is ${JSON.stringify(text.slice(0, 40))}, but ids are whole numbers.`)
}

/** Reads an address and returns its checksummed form. `what` begins the complaint. */
export function readAddress(text: string, what: string): `0x${string}` {
  const address = parseAddress(text)
  if (address !== undefined) return address
  throw new UsageError(
    `${what} is ${JSON.stringify(text.slice(0, 44))}, but it must be an address: 0x and 40 hexadecimal digits.`,
  )
}

const UNIT_MS: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** Reads a point in time, in epoch milliseconds: a span from now (`12h`, `30d`) or a date (`2027-01-31`). */
export function readExpiry(text: string, nowMs: number): number {
  const span = /^(\d{1,4})([mhdw])$/.exec(text)
  const date = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z)?$/.test(text) ? Date.parse(text) : Number.NaN
  const time = span === null ? date : nowMs + Number(span[1]) * UNIT_MS[span[2]!]!
  if (time > nowMs) return time
  const why = Number.isNaN(time) ? 'it must be a span such as 12h or 30d, or a date such as 2027-01-31' : 'that is past'
  throw new UsageError(`--expires is ${JSON.stringify(text.slice(0, 40))}, but ${why}.`)
}
