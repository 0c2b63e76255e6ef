/** A character between a number and its unit that does not break the line. */
const GAP = '\u00a0'

const MINUS = '\u2212'

export interface AmountOptions {
  /**
   * Greatest number of decimals; the rest is cut off toward zero. Default 2 from 1 on, and for dollars from a cent on;
   * else four significant digits.
   */
  readonly decimals?: number | undefined
  /** Unit behind the number. */
  readonly symbol?: string | undefined
  /** Writes a plus before a gain. */
  readonly sign?: boolean | undefined
  /** Writes all decimals, so that the points of a column are below each other. Default: at least two. */
  readonly fixed?: boolean | undefined
}

/** Returns -1, 0 or 1 for a decimal as text, without turning it into a float. */
export function signOf(decimal: string): -1 | 0 | 1 {
  if (!/[1-9]/.test(decimal)) return 0
  return decimal.startsWith('-') ? -1 : 1
}

/**
 * Returns a price in the browser's locale: with the market's decimals where they are known, else two from 1,000 on, six
 * digits from 1 on and five significant ones below. Zeros at the end stay, so that a price keeps its width.
 */
export function formatPrice(price: string, market: { readonly precision?: number | undefined } = {}): string {
  const places = market.precision ?? placesOfPrice(price)
  return formatFixed(price, places, market.precision === undefined ? places : Math.min(places, 8))
}

/** Returns an amount in the browser's locale, without digits that nobody reads. An 18-decimals token is trimmed. */
export function formatAmount(amount: string, options: AmountOptions = {}): string {
  const { decimals, symbol, sign = false, fixed = false } = options
  const places = decimals ?? placesOfAmount(amount, symbol)
  const number = formatFixed(amount, places, fixed ? places : Math.min(places, 2))
  // An amount that rounds to nothing has no sign.
  const plus = sign && signOf(amount) > 0 && /[1-9\p{Nd}]/u.test(number) && hasDigits(amount, places) ? '+' : ''
  return `${plus}${number}${symbol === undefined || symbol === '' ? '' : GAP + symbol}`
}

/** Returns a fraction as percent: `0.0123` is 1.23 %. */
export function formatPercent(
  rate: string,
  { digits = 2, sign = false }: { readonly digits?: number | undefined; readonly sign?: boolean | undefined } = {},
): string {
  const percent = timesHundred(rate)
  const plus = sign && signOf(rate) > 0 && hasDigits(percent, digits) ? '+' : ''
  return `${plus}${formatFixed(percent, digits, digits)}${GAP}%`
}

/** Returns a time of the day with seconds. */
export function formatTime(ms: number): string {
  return clockFormat().format(ms)
}

/** Returns date and time. */
export function formatDate(ms: number): string {
  return dateFormat().format(ms)
}

/** Returns how long ago something was, or how soon it will be: `12 s ago`, `in 3 min`. */
export function formatAge(ms: number, nowMs: number): string {
  const words = formatDuration(Math.abs(nowMs - ms))
  if (words === '0 s') return 'now'
  return ms <= nowMs ? `${words} ago` : `in ${words}`
}

/** Returns a length of time in its greatest unit: `45 s`, `3 min`, `2 h`, `5 d`. */
export function formatDuration(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  if (seconds < 60) return `${seconds} s`
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h`
  return `${Math.floor(seconds / 86_400)} d`
}

/** Returns the first and last digits of an address. */
export function shortAddress(address: string): string {
  return address.length <= 13 ? address : `${address.slice(0, 6)}…${address.slice(-4)}`
}

/** Returns the first and last digits of a hash. */
export function shortHash(hash: string): string {
  return hash.length <= 19 ? hash : `${hash.slice(0, 10)}…${hash.slice(-6)}`
}

/**
 * Returns what was typed as a decimal, or as the beginning of one. The last of several separators is the point, a
 * single comma is one too: `1,5` is 1.5, `1,234.5` is 1234.5 and `1.234,5` is 1234.5.
 */
export function normaliseDecimal(typed: string, { signed = false }: { readonly signed?: boolean } = {}): string {
  const minus = signed && /^\s*[-\u2212]/.test(typed) ? '-' : ''
  const kept = typed.replaceAll(/[^0-9.,]/g, '')
  const isGrouped = /,/.test(kept) && /\./.test(kept)
  const point = isGrouped ? (kept.lastIndexOf(',') > kept.lastIndexOf('.') ? ',' : '.') : kept.includes(',') ? ',' : '.'
  const parts = kept.split(point).map((part) => part.replaceAll(/[.,]/g, ''))
  // Several separators of one kind group thousands: `1,234,567`.
  const [whole = '', ...rest] = parts.length > 2 && !isGrouped ? [parts.join('')] : parts
  const trimmed = whole.replace(/^0+(?=\d)/, '')
  if (rest.length === 0) return minus + trimmed
  return `${minus}${trimmed === '' ? '0' : trimmed}.${rest.join('')}`
}

/** Returns true for a complete positive decimal. */
export function isPositiveDecimal(text: string): boolean {
  return /^\d+(?:\.\d+)?$/.test(text) && signOf(text) > 0
}

/** Returns the index of the first digit that is not zero, counted from the point: `0.0012` is 3, `12.3` is 0. */
function leadingZeros(decimal: string): number {
  const fraction = /^-?0*\.(0*)[1-9]/.exec(decimal)
  return fraction === null ? 0 : fraction[1]!.length + 1
}

function wholeDigits(decimal: string): number {
  return /^-?0*(\d*)/.exec(decimal)![1]!.length
}

function placesOfPrice(price: string): number {
  const digits = wholeDigits(price)
  if (digits === 0) return leadingZeros(price) + 4
  return Math.max(2, 6 - digits)
}

/** Units of which nobody counts less than a cent, unless that is all there is. */
const DOLLARS: ReadonlySet<string | undefined> = new Set(['USD', 'USDC', 'USDT', 'DAI'])

function placesOfAmount(amount: string, symbol: string | undefined): number {
  if (wholeDigits(amount) > 0 || signOf(amount) === 0) return 2
  const first = leadingZeros(amount)
  return first <= 2 && DOLLARS.has(symbol) ? 2 : Math.min(first + 3, 18)
}

/** Returns true when a decimal is not zero once it is cut to a number of places. */
function hasDigits(decimal: string, places: number): boolean {
  return signOf(cut(decimal, places)) !== 0
}

/** Cuts a decimal to a number of places, toward zero. */
function cut(decimal: string, places: number): string {
  const point = decimal.indexOf('.')
  if (point === -1) return decimal
  return places === 0 ? decimal.slice(0, point) : decimal.slice(0, point + 1 + places)
}

/** Writes a decimal in the browser's locale. `Intl` takes the text itself, so no digit passes through a float. */
function formatFixed(decimal: string, places: number, least: number): string {
  const kept = cut(decimal, places)
  const text = signOf(kept) === 0 ? kept.replace('-', '') : kept
  if (!/^-?\d*\.?\d*$/.test(text) || !/\d/.test(text)) return decimal
  return numberFormat(places, least)
    .format(text as `${number}`)
    .replace('-', MINUS)
}

function timesHundred(rate: string): string {
  const [, minus = '', whole = '', fraction = ''] = /^(-?)(\d*)\.?(\d*)$/.exec(rate) ?? []
  const padded = fraction.padEnd(2, '0')
  return `${minus}${whole}${padded.slice(0, 2)}.${padded.slice(2)}`.replace(/\.$/, '')
}

const numberFormats = new Map<string, Intl.NumberFormat>()

/** Formats are kept, because making one costs a hundred times as much as using it. */
function numberFormat(places: number, least: number): Intl.NumberFormat {
  const key = `${places}/${least}`
  const known = numberFormats.get(key)
  if (known !== undefined) return known
  const made = new Intl.NumberFormat(undefined, { minimumFractionDigits: least, maximumFractionDigits: places })
  numberFormats.set(key, made)
  return made
}

let clock: Intl.DateTimeFormat | undefined
let date: Intl.DateTimeFormat | undefined

function clockFormat(): Intl.DateTimeFormat {
  clock ??= new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
  return clock
}

function dateFormat(): Intl.DateTimeFormat {
  date ??= new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
  return date
}
