import type { CandleInterval } from '@bezel/protocol/wire'

/** Kinds of marks on the time axis, as the chart library numbers them. */
const [YEAR, MONTH, DAY] = [0, 1, 2]

const formats = new Map<string, Intl.DateTimeFormat>()

/** Returns the text of a mark on the time axis, in the browser's locale and time zone. */
export function axisTimeText(time: unknown, kind: number, interval: CandleInterval): string {
  if (kind === YEAR) return format(time, interval, { year: 'numeric' })
  if (kind === MONTH) return format(time, interval, { month: 'short' })
  if (kind === DAY) return format(time, interval, { day: 'numeric', month: 'short' })
  return format(time, interval, { hour: '2-digit', minute: '2-digit' })
}

/** Returns the time of the candle under the pointer. */
export function pointerTimeText(time: unknown, interval: CandleInterval): string {
  const day = { day: 'numeric', month: 'short', year: '2-digit' } as const
  return format(time, interval, interval === '1d' ? day : { ...day, hour: '2-digit', minute: '2-digit' })
}

/** Writes a time in seconds. Days begin at midnight UTC, so their candles are named by the day there. */
function format(time: unknown, interval: CandleInterval, options: Intl.DateTimeFormatOptions): string {
  if (typeof time !== 'number') return ''
  const key = `${interval === '1d'} ${JSON.stringify(options)}`
  const known = formats.get(key)
  const made =
    known ?? new Intl.DateTimeFormat(undefined, interval === '1d' ? { ...options, timeZone: 'UTC' } : options)
  if (known === undefined) formats.set(key, made)
  return made.format(time * 1_000)
}
