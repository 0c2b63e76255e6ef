import type { MarketGroup } from '@bezel/protocol/wire'

// The regular trading week, in minutes of New York days. Holidays are not in it: the service says whether a market is
// open, and this only estimates when a closed one opens again.

type MinuteSpan = readonly [from: number, to: number]

const DAY_MS = 86_400_000
const MIDNIGHT = 24 * 60
const [SUNDAY, FRIDAY, SATURDAY] = [0, 5, 6]

const zone = new Intl.DateTimeFormat('en-US', { timeZone: 'America/New_York', timeZoneName: 'longOffset' })

/**
 * Returns the time at which the regular hours of a closed market begin again. Returns `null` within them: a holiday or
 * the operator has closed it then, and the week does not say until when.
 */
export function regularOpening(group: MarketGroup, nowMs: number): number | null {
  if (group === 'crypto') return null
  const today = Math.floor((nowMs - 5 * 3_600_000) / DAY_MS)
  for (let day = today; day <= today + 8; day += 1) {
    const offsetMs = newYorkOffsetMs(day)
    const midnightMs = day * DAY_MS - offsetMs
    const spans = spansOf(group, (((day + 4) % 7) + 7) % 7, offsetMs === -4 * 3_600_000)
    const next = spans.find(([, to]) => midnightMs + to * 60_000 > nowMs)
    if (next === undefined) continue
    const opensAtMs = midnightMs + next[0] * 60_000
    return opensAtMs <= nowMs ? null : opensAtMs
  }
  return null
}

/** Returns the open minutes of a weekday, Sunday being 0. */
function spansOf(group: Exclude<MarketGroup, 'crypto'>, weekday: number, isSummer: boolean): readonly MinuteSpan[] {
  switch (group) {
    case 'stocks':
    case 'indices':
      return weekday === SUNDAY || weekday === SATURDAY ? [] : [[9 * 60 + 35, 16 * 60]]
    case 'forex':
      return weekSpans(weekday, (isSummer ? 16 : 17) * 60, [[0, MIDNIGHT]])
    case 'commodities':
      return weekSpans(weekday, 17 * 60, [
        [0, 17 * 60],
        [18 * 60 + 10, MIDNIGHT],
      ])
  }
}

/** Returns the spans of a week that ends on Friday at `closes` and begins on Sunday with the last span of a day. */
function weekSpans(weekday: number, closes: number, wholeDay: readonly MinuteSpan[]): readonly MinuteSpan[] {
  if (weekday === SATURDAY) return []
  if (weekday === FRIDAY) return [[0, closes]]
  if (weekday !== SUNDAY) return wholeDay
  const evening = wholeDay.at(-1)?.[0] ?? 0
  return [[evening === 0 ? closes : evening, MIDNIGHT]]
}

/**
 * Returns the offset of New York's clock from UTC on a day counted from 1970; clocks change while markets are closed.
 */
function newYorkOffsetMs(day: number): number {
  const parts = zone.formatToParts(day * DAY_MS + 17 * 3_600_000)
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? ''
  return Number(/^GMT([+-]\d{2})/.exec(name)?.[1] ?? -5) * 3_600_000
}
