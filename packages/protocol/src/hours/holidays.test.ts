import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { HALF_DAYS, HOLIDAYS } from './holidays.ts'
import { DAY_MS } from './hours.ts'

const YEARS = [2025, 2026, 2027, 2028]

const MONDAY = 1

const THURSDAY = 4

const SATURDAY = 6

const iso = (ms: number) => new Date(ms).toISOString().slice(0, 10)

/** Returns the `nth` weekday of a month, counted from the end when negative. */
function nthWeekday(year: number, month: number, weekday: number, nth: number): string {
  const days = Array.from({ length: 31 }, (_, at) => Date.UTC(year, month - 1, at + 1))
  return iso(
    days.filter((ms) => new Date(ms).getUTCMonth() === month - 1 && new Date(ms).getUTCDay() === weekday).at(nth)!,
  )
}

/** Returns the day on which a fixed holiday is kept: a Saturday moves to Friday, a Sunday to Monday. */
function observed(year: number, month: number, day: number): string {
  const ms = Date.UTC(year, month - 1, day)
  const weekday = new Date(ms).getUTCDay()
  return iso(weekday === SATURDAY ? ms - DAY_MS : weekday === 0 ? ms + DAY_MS : ms)
}

/** Returns Good Friday, two days before Easter Sunday (the anonymous Gregorian computus). */
function goodFriday(year: number): string {
  const century = Math.floor(year / 100)
  const golden = year % 19
  const moon = (19 * golden + century - Math.floor(century / 4) - Math.floor((8 * century + 13) / 25) + 15) % 30
  const epact = moon - Math.floor(moon / 28) * (1 - Math.floor(29 / (moon + 1)) * Math.floor((21 - golden) / 11))
  const weekday = (year + Math.floor(year / 4) + epact + 2 - century + Math.floor(century / 4)) % 7
  return iso(Date.UTC(year, 2, 28 + epact - weekday - 2))
}

function byRule(year: number): string[] {
  const newYear = Date.UTC(year, 0, 1)
  return [
    ...(new Date(newYear).getUTCDay() === SATURDAY ? [] : [observed(year, 1, 1)]),
    nthWeekday(year, 1, MONDAY, 2),
    nthWeekday(year, 2, MONDAY, 2),
    goodFriday(year),
    nthWeekday(year, 5, MONDAY, -1),
    observed(year, 6, 19),
    observed(year, 7, 4),
    nthWeekday(year, 9, MONDAY, 0),
    nthWeekday(year, 11, THURSDAY, 3),
    observed(year, 12, 25),
  ].toSorted()
}

/** Returns true on a day from Monday to Friday that is no holiday. */
function isTradingDay(date: string): boolean {
  const weekday = new Date(date).getUTCDay()
  return weekday >= MONDAY && weekday < SATURDAY && !HOLIDAYS.some((holiday) => holiday.date === date)
}

/** Returns the half days of a year: before the Fourth of July and Christmas Day themselves, and after Thanksgiving. */
function halfDaysByRule(year: number): string[] {
  const eves = [`${year}-07-03`, `${year}-12-24`].filter((eve) => {
    const holiday = iso(Date.parse(eve) + DAY_MS)
    return isTradingDay(eve) && HOLIDAYS.some(({ date }) => date === holiday)
  })
  return [...eves, iso(Date.parse(nthWeekday(year, 11, THURSDAY, 3)) + DAY_MS)].toSorted()
}

describe('holidays', () => {
  it("are the exchange's own rules, plus the one day of mourning", () => {
    const dates = HOLIDAYS.map(({ date }) => date)
    assert.deepEqual(
      dates.filter((date) => date !== '2025-01-09'),
      YEARS.flatMap(byRule),
    )
  })

  it('all close the stock market', () => {
    for (const { date, closes } of HOLIDAYS) assert.ok(closes.includes('stocks'), date)
  })
})

describe('half days', () => {
  it("are the exchange's own rules", () => {
    assert.deepEqual(HALF_DAYS, YEARS.flatMap(halfDaysByRule))
  })
})
