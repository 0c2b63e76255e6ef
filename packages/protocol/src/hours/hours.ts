import type { MarketGroup } from '../schemas/market.ts'
import { HALF_DAYS, HOLIDAYS, type MarketSession } from './holidays.ts'

/** One day in milliseconds. */
export const DAY_MS = 86_400_000

/** The session of each class of markets. */
export const GROUP_SESSIONS: Readonly<Record<MarketGroup, MarketSession>> = {
  crypto: 'crypto',
  forex: 'forex',
  stocks: 'stocks',
  indices: 'stocks',
  commodities: 'commodities',
}

/** A span of time during which a market is open, `fromMs` included and `toMs` excluded. */
export interface OpenSpan {
  readonly fromMs: number
  readonly toMs: number
}

type MinuteSpan = readonly [from: number, to: number]

const HOUR_MS = 3_600_000

const clock = (hours: number, minutes = 0) => hours * 60 + minutes

const MIDNIGHT = clock(24)

const ALL_DAY: MinuteSpan = [0, MIDNIGHT]

const SUNDAY = 0

const FRIDAY = 5

const SATURDAY = 6

/** Longest time in days that a market stays closed, weekends and holidays together, with a margin. */
const MAX_CLOSED_DAYS = 10

/** Number of remembered days, more than any request needs. The table is emptied when it is full. */
const MAX_REMEMBERED_DAYS = 20_000

const holidays = new Set(
  HOLIDAYS.flatMap(({ date, closes }) => closes.map((session) => `${session} ${Date.parse(date) / DAY_MS}`)),
)

const halfDays = new Set(HALF_DAYS.map((date) => Date.parse(date) / DAY_MS))

const rememberedDays = new Map<string, readonly OpenSpan[]>()

/** Returns true when a market of this session trades at an instant. */
export function isOpenAt(session: MarketSession, ms: number): boolean {
  return openSpans(session, ms, ms + 1).length > 0
}

/** Returns the open spans within [fromMs, toMs), in order. Spans that touch are joined. */
export function openSpans(session: MarketSession, fromMs: number, toMs: number): readonly OpenSpan[] {
  if (session === 'crypto') return fromMs < toMs ? [{ fromMs, toMs }] : []
  const spans: OpenSpan[] = []
  for (let day = earliestNewYorkDay(fromMs); day * DAY_MS <= toMs; day += 1) {
    for (const span of spansOfDay(session, day)) {
      const clipped = { fromMs: Math.max(span.fromMs, fromMs), toMs: Math.min(span.toMs, toMs) }
      if (clipped.fromMs < clipped.toMs) appendSpan(spans, clipped)
    }
  }
  return spans
}

/** Returns the last instant up to `ms` at which the market was open; `ms` itself when it is open. */
export function lastOpenMs(session: MarketSession, ms: number): number | undefined {
  const last = openSpans(session, ms, ms + 1).at(-1) ?? openSpans(session, ms - MAX_CLOSED_DAYS * DAY_MS, ms).at(-1)
  return last === undefined ? undefined : last.toMs - 1
}

/**
 * Returns the time after `ms` at which the trading hours of a closed market begin, weekends, holidays and half days
 * included; `null` within its hours, where only an operator has closed it and nobody says until when.
 */
export function nextOpeningMs(group: MarketGroup, ms: number): number | null {
  const [next] = openSpans(GROUP_SESSIONS[group], ms, ms + MAX_CLOSED_DAYS * DAY_MS)
  return next === undefined || next.fromMs === ms ? null : next.fromMs
}

function appendSpan(spans: OpenSpan[], next: OpenSpan): void {
  const last = spans.at(-1)
  if (last?.toMs === next.fromMs) spans[spans.length - 1] = { fromMs: last.fromMs, toMs: next.toMs }
  else spans.push(next)
}

function spansOfDay(session: MarketSession, day: number): readonly OpenSpan[] {
  const key = `${session} ${day}`
  const known = rememberedDays.get(key)
  if (known !== undefined) return known
  if (rememberedDays.size >= MAX_REMEMBERED_DAYS) rememberedDays.clear()
  const minutes = holidays.has(key) ? [] : minutesOf(session, day)
  const spans = minutes.map(([from, to]) => ({ fromMs: newYorkMs(day, from), toMs: newYorkMs(day, to) }))
  rememberedDays.set(key, spans)
  return spans
}

/** Returns the open minutes of a New York day, without regard to holidays. Day 0, 1970-01-01, was a Thursday. */
function minutesOf(session: MarketSession, day: number): readonly MinuteSpan[] {
  const weekday = (((day + 4) % 7) + 7) % 7
  if (session === 'stocks') return stockMinutes(weekday, halfDays.has(day))
  if (session === 'commodities') return commodityMinutes(weekday)
  return session === 'forex' ? forexMinutes(weekday, isNewYorkSummer(day)) : [ALL_DAY]
}

/** Returns the hours of stocks and indices: Monday to Friday, 09:35 to 16:00, on a half day to 13:00. */
function stockMinutes(weekday: number, isHalfDay: boolean): readonly MinuteSpan[] {
  return weekday === SUNDAY || weekday === SATURDAY ? [] : [[clock(9, 35), clock(isHalfDay ? 13 : 16)]]
}

/** Returns the hours of currencies: Sunday to Friday, from and until 16:00 in summer time and 17:00 in winter time. */
function forexMinutes(weekday: number, isSummer: boolean): readonly MinuteSpan[] {
  const turn = clock(isSummer ? 16 : 17)
  if (weekday === SATURDAY) return []
  if (weekday === SUNDAY) return [[turn, MIDNIGHT]]
  return weekday === FRIDAY ? [[0, turn]] : [ALL_DAY]
}

/** Returns the hours of commodities: Sunday 18:10 to Friday 17:00, with a break from 17:00 to 18:10 each day. */
function commodityMinutes(weekday: number): readonly MinuteSpan[] {
  const evening: MinuteSpan = [clock(18, 10), MIDNIGHT]
  const untilBreak: MinuteSpan = [0, clock(17)]
  if (weekday === SATURDAY) return []
  if (weekday === SUNDAY) return [evening]
  return weekday === FRIDAY ? [untilBreak] : [untilBreak, evening]
}

/** Number of remembered offsets, more than any request needs. The table is emptied when it is full. */
const MAX_REMEMBERED_OFFSETS = 20_000

const offsetFormat = new Intl.DateTimeFormat('en-US', { timeZone: 'America/New_York', timeZoneName: 'longOffset' })

const offsets = new Map<number, number>()

/**
 * Returns the offset of New York's clock from UTC (negative) at noon of a day counted from 1970-01-01. Clocks change at
 * two o'clock on Sunday mornings, when every market with hours is closed, so one offset serves the whole day. Offsets
 * are remembered, because the time zone look-up is slow.
 */
function newYorkOffsetMs(day: number): number {
  const known = offsets.get(day)
  if (known !== undefined) return known
  if (offsets.size >= MAX_REMEMBERED_OFFSETS) offsets.clear()
  const offsetMs = readOffsetMs(day * DAY_MS + 17 * HOUR_MS)
  offsets.set(day, offsetMs)
  return offsetMs
}

/** Returns true on days of summer time, which is four hours behind UTC; winter time is five. */
function isNewYorkSummer(day: number): boolean {
  return newYorkOffsetMs(day) === -4 * HOUR_MS
}

/** Returns the instant of a minute of a New York day. */
function newYorkMs(day: number, minuteOfDay: number): number {
  return day * DAY_MS + minuteOfDay * 60_000 - newYorkOffsetMs(day)
}

/**
 * Returns the first New York day that can be on the calendar at an instant: the clock there is four or five hours
 * behind.
 */
function earliestNewYorkDay(ms: number): number {
  return Math.floor((ms - 5 * HOUR_MS) / DAY_MS)
}

function readOffsetMs(ms: number): number {
  const name = offsetFormat.formatToParts(ms).find((part) => part.type === 'timeZoneName')?.value ?? ''
  const hours = /^GMT([+-]\d{2}):00$/.exec(name)?.[1]
  if (hours === undefined)
    throw new Error(`There is no time zone data for America/New_York here (the answer was "${name}").`)
  return Number(hours) * HOUR_MS
}
