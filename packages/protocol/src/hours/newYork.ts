export const DAY_MS = 86_400_000

const HOUR_MS = 3_600_000

/** More days than any request can ask for; the table is emptied when it is full. */
const MAX_REMEMBERED_DAYS = 20_000

const offsetFormat = new Intl.DateTimeFormat('en-US', { timeZone: 'America/New_York', timeZoneName: 'longOffset' })

const offsets = new Map<number, number>()

/**
 * What New York's clock is ahead of UTC (negative) at noon of a calendar day, counted from 1970-01-01. Clocks change at two o'clock on
 * Sunday mornings, when every market that has hours is closed, so one offset serves the whole day. Remembered, as the time zone look-up is slow.
 */
export function newYorkOffsetMs(day: number): number {
  const known = offsets.get(day)
  if (known !== undefined) return known
  if (offsets.size >= MAX_REMEMBERED_DAYS) offsets.clear()
  const offsetMs = readOffsetMs(day * DAY_MS + 17 * HOUR_MS)
  offsets.set(day, offsetMs)
  return offsetMs
}

/** Summer time is four hours behind UTC, winter time five. */
export function isNewYorkSummer(day: number): boolean {
  return newYorkOffsetMs(day) === -4 * HOUR_MS
}

/** The instant of a minute of a New York day. */
export function newYorkMs(day: number, minuteOfDay: number): number {
  return day * DAY_MS + minuteOfDay * 60_000 - newYorkOffsetMs(day)
}

/** The first New York day that can be on the calendar at an instant: the clock there is four or five hours behind. */
export function earliestNewYorkDay(ms: number): number {
  return Math.floor((ms - 5 * HOUR_MS) / DAY_MS)
}

function readOffsetMs(ms: number): number {
  const name = offsetFormat.formatToParts(ms).find((part) => part.type === 'timeZoneName')?.value ?? ''
  const hours = /^GMT([+-]\d{2}):00$/.exec(name)?.[1]
  if (hours === undefined)
    throw new Error(`This node has no time zone data for America/New_York (it answered "${name}").`)
  return Number(hours) * HOUR_MS
}
