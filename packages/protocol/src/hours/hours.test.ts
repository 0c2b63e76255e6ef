import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { isOpenAt, lastOpenMs, nextOpeningMs, openSpans, DAY_MS } from './hours.ts'
import type { MarketGroup } from '../schemas/market.ts'
import type { MarketSession } from './holidays.ts'

const at = (text: string) => Date.parse(text)

/** Checks the last millisecond before a border and the first one after it. */
function assertBorder(session: MarketSession, border: string, opens: boolean): void {
  assert.equal(isOpenAt(session, at(border) - 1), !opens, `${session} just before ${border}`)
  assert.equal(isOpenAt(session, at(border)), opens, `${session} from ${border}`)
}

const opensAt = (session: MarketSession, border: string) => assertBorder(session, border, true)

const closesAt = (session: MarketSession, border: string) => assertBorder(session, border, false)

describe('hours of crypto', () => {
  it('never close', () => {
    for (const text of ['2026-11-14T12:00:00Z', '2026-12-25T12:00:00Z']) assert.ok(isOpenAt('crypto', at(text)))
  })
})

describe('hours of stocks and indices', () => {
  it('are Monday to Friday, 09:35 to 16:00 in New York', () => {
    opensAt('stocks', '2026-11-12T09:35:00-05:00')
    closesAt('stocks', '2026-11-12T16:00:00-05:00')
    opensAt('stocks', '2026-07-08T09:35:00-04:00')
    closesAt('stocks', '2026-07-10T16:00:00-04:00')
    assert.ok(!isOpenAt('stocks', at('2026-11-14T12:00:00-05:00')))
    assert.ok(!isOpenAt('stocks', at('2026-11-15T12:00:00-05:00')))
  })

  it('follow the clock change of both springs and autumns', () => {
    opensAt('stocks', '2026-03-06T14:35:00Z')
    opensAt('stocks', '2026-03-09T13:35:00Z')
    opensAt('stocks', '2026-10-30T13:35:00Z')
    opensAt('stocks', '2026-11-02T14:35:00Z')
    opensAt('stocks', '2027-03-15T13:35:00Z')
    opensAt('stocks', '2027-11-08T14:35:00Z')
  })

  it('have holidays', () => {
    for (const day of ['2026-11-26', '2026-12-25', '2026-07-03', '2027-03-26', '2028-06-19']) {
      assert.equal(openSpans('stocks', at(`${day}T00:00:00Z`), at(`${day}T00:00:00Z`) + DAY_MS).length, 0, day)
    }
    opensAt('stocks', '2026-11-27T09:35:00-05:00')
  })

  it('end at 13:00 on half days, and nothing else does', () => {
    closesAt('stocks', '2026-11-27T13:00:00-05:00')
    assert.ok(!isOpenAt('stocks', at('2026-11-27T15:59:00-05:00')))
    closesAt('stocks', '2028-07-03T13:00:00-04:00')
    closesAt('stocks', '2026-12-23T16:00:00-05:00')
    for (const session of ['forex', 'commodities'] as const)
      assert.ok(isOpenAt(session, at('2026-11-27T14:00:00-05:00')), session)
  })
})

describe('hours of forex', () => {
  it('are Sunday to Friday, turning at 17:00 in winter', () => {
    opensAt('forex', '2026-11-15T17:00:00-05:00')
    closesAt('forex', '2026-11-20T17:00:00-05:00')
  })

  it('turn at 16:00 in summer', () => {
    opensAt('forex', '2026-07-05T16:00:00-04:00')
    closesAt('forex', '2026-07-10T16:00:00-04:00')
  })

  it('turn by the clock of that very day when it changes', () => {
    opensAt('forex', '2026-03-08T16:00:00-04:00')
    closesAt('forex', '2026-03-06T17:00:00-05:00')
    opensAt('forex', '2026-11-01T17:00:00-05:00')
    closesAt('forex', '2026-10-30T16:00:00-04:00')
  })

  it('have no break within the week, and close at Christmas', () => {
    assert.equal(openSpans('forex', at('2026-11-15T23:00:00Z'), at('2026-11-20T21:00:00Z')).length, 1)
    closesAt('forex', '2026-12-25T00:00:00-05:00')
    assert.ok(isOpenAt('forex', at('2026-11-26T12:00:00-05:00')), 'trades on Thanksgiving')
  })
})

describe('hours of commodities', () => {
  it('are Sunday 18:10 to Friday 17:00 with a break each evening', () => {
    opensAt('commodities', '2026-11-15T18:10:00-05:00')
    for (const day of [16, 17, 18, 19]) {
      closesAt('commodities', `2026-11-${day}T17:00:00-05:00`)
      opensAt('commodities', `2026-11-${day}T18:10:00-05:00`)
    }
    closesAt('commodities', '2026-11-20T17:00:00-05:00')
    assert.ok(!isOpenAt('commodities', at('2026-11-20T18:10:00-05:00')))
    assert.ok(!isOpenAt('commodities', at('2026-11-21T12:00:00-05:00')))
  })

  it('close on Good Friday', () => {
    closesAt('commodities', '2027-03-26T00:00:00-04:00')
    assert.ok(!isOpenAt('commodities', at('2027-03-26T12:00:00-04:00')))
  })
})

describe('openSpans and lastOpenMs', () => {
  const instant = fc.integer({ min: Date.UTC(2025, 0, 1), max: Date.UTC(2029, 0, 1) })
  const session = fc.constantFrom<MarketSession>('crypto', 'forex', 'stocks', 'commodities')

  it('agree with isOpenAt at every minute of a random week', () => {
    fc.assert(
      fc.property(session, instant, (kind, near) => {
        const from = near - (near % 60_000)
        const to = from + 7 * DAY_MS
        const spans = openSpans(kind, from, to)
        const inside = (ms: number) => spans.some((span) => ms >= span.fromMs && ms < span.toMs)
        for (let ms = from; ms < to; ms += 300_000)
          assert.equal(inside(ms), isOpenAt(kind, ms), new Date(ms).toISOString())
      }),
      { numRuns: 20 },
    )
  })

  it('are in order, apart, within what was asked, and on whole minutes inside', () => {
    fc.assert(
      fc.property(session, instant, fc.nat({ max: 30 * DAY_MS }), (kind, from, length) => {
        let lastMs = -Infinity
        for (const span of openSpans(kind, from, from + length)) {
          assert.ok(span.fromMs > lastMs && span.toMs > span.fromMs)
          assert.ok(span.fromMs === from || span.fromMs % 60_000 === 0)
          assert.ok(span.toMs === from + length || span.toMs % 60_000 === 0)
          lastMs = span.toMs
        }
      }),
    )
  })

  it('find the last open instant', () => {
    fc.assert(
      fc.property(session, instant, (kind, ms) => {
        const last = lastOpenMs(kind, ms)!
        assert.ok(isOpenAt(kind, last) && last <= ms)
        assert.equal(openSpans(kind, last + 1, ms + 1).length, 0)
      }),
    )
    assert.equal(lastOpenMs('stocks', at('2026-11-15T12:00:00Z')), at('2026-11-13T16:00:00-05:00') - 1)
  })

  it('keep the New York days of the year 2000 and 2100 too', () => {
    opensAt('stocks', '2000-07-05T09:35:00-04:00')
    opensAt('stocks', '2100-01-05T09:35:00-05:00')
  })
})

describe('the next opening', () => {
  const opening = (group: MarketGroup, now: string): string | null => {
    const ms = nextOpeningMs(group, at(now))
    return ms === null ? null : new Date(ms).toISOString()
  }

  it('is after the weekend, the holiday or the half day', () => {
    assert.equal(opening('stocks', '2026-11-21T12:00:00-05:00'), '2026-11-23T14:35:00.000Z')
    assert.equal(opening('stocks', '2026-11-25T18:00:00-05:00'), '2026-11-27T14:35:00.000Z', 'over Thanksgiving')
    assert.equal(opening('indices', '2026-11-26T12:00:00-05:00'), '2026-11-27T14:35:00.000Z', 'on Thanksgiving')
    assert.equal(opening('stocks', '2026-11-27T13:00:00-05:00'), '2026-11-30T14:35:00.000Z', 'after a half day')
    assert.equal(opening('commodities', '2027-03-26T12:00:00-04:00'), '2027-03-28T22:10:00.000Z', 'on Good Friday')
    assert.equal(opening('forex', '2026-12-25T12:00:00-05:00'), '2026-12-27T22:00:00.000Z', 'at Christmas')
  })

  it('is not told within the hours, and never of crypto', () => {
    assert.equal(opening('stocks', '2026-11-27T12:59:59-05:00'), null)
    assert.equal(opening('crypto', '2026-12-25T12:00:00-05:00'), null)
  })
})
