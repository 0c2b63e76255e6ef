import { HOLIDAYS } from './holidays.ts'
import type { MarketSession } from './marketSession.ts'
import { DAY_MS, earliestNewYorkDay, isNewYorkSummer, newYorkMs } from './newYork.ts'

/** A stretch of time during which a market is open: `from` included, `to` not. */
export interface OpenSpan {
  readonly fromMs: number
  readonly toMs: number
}

type MinuteSpan = readonly [from: number, to: number]

const clock = (hours: number, minutes = 0) => hours * 60 + minutes

const MIDNIGHT = clock(24)
const ALL_DAY: MinuteSpan = [0, MIDNIGHT]
const SUNDAY = 0
const FRIDAY = 5
const SATURDAY = 6

/** Longest a market stays closed, weekends and holidays together, with a margin. */
const MAX_CLOSED_DAYS = 10

/** More day tables than any request can ask for; the table is emptied when it is full. */
const MAX_REMEMBERED_DAYS = 20_000

const holidays = new Set(
  HOLIDAYS.flatMap(({ date, closes }) => closes.map((session) => `${session} ${Date.parse(date) / DAY_MS}`)),
)

const rememberedDays = new Map<string, readonly OpenSpan[]>()

/** Whether a market of this session trades at an instant, by its hours. */
export function isOpenAt(session: MarketSession, ms: number): boolean {
  return openSpans(session, ms, ms + 1).length > 0
}

/** The open stretches within [fromMs, toMs), in order; neighbours that touch are one. */
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

/** The last instant up to `ms` at which the market was open, `ms` itself when it is open. */
export function lastOpenMs(session: MarketSession, ms: number): number | undefined {
  const last = openSpans(session, ms, ms + 1).at(-1) ?? openSpans(session, ms - MAX_CLOSED_DAYS * DAY_MS, ms).at(-1)
  return last === undefined ? undefined : last.toMs - 1
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

/** The hours of a New York day, holidays aside. 1970-01-01, day 0, was a Thursday. */
function minutesOf(session: MarketSession, day: number): readonly MinuteSpan[] {
  const weekday = (((day + 4) % 7) + 7) % 7
  if (session === 'stocks') return stockMinutes(weekday)
  if (session === 'commodities') return commodityMinutes(weekday)
  return session === 'forex' ? forexMinutes(weekday, isNewYorkSummer(day)) : [ALL_DAY]
}

/** Stocks and indices: Monday to Friday, 09:35 to 16:00. */
function stockMinutes(weekday: number): readonly MinuteSpan[] {
  return weekday === SUNDAY || weekday === SATURDAY ? [] : [[clock(9, 35), clock(16)]]
}

/** Sunday to Friday, from and until 16:00 in summer time and 17:00 in winter time. */
function forexMinutes(weekday: number, isSummer: boolean): readonly MinuteSpan[] {
  const turn = clock(isSummer ? 16 : 17)
  if (weekday === SATURDAY) return []
  if (weekday === SUNDAY) return [[turn, MIDNIGHT]]
  return weekday === FRIDAY ? [[0, turn]] : [ALL_DAY]
}

/** Sunday 18:10 to Friday 17:00, with a break from 17:00 to 18:10 in between. */
function commodityMinutes(weekday: number): readonly MinuteSpan[] {
  const evening: MinuteSpan = [clock(18, 10), MIDNIGHT]
  const untilBreak: MinuteSpan = [0, clock(17)]
  if (weekday === SATURDAY) return []
  if (weekday === SUNDAY) return [evening]
  return weekday === FRIDAY ? [untilBreak] : [untilBreak, evening]
}
