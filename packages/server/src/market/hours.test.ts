import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { until } from '@bezel/testkit/until.ts'
import { isStocksOpen } from '@gainsnetwork/sdk'
import type { MarketGroup } from '@bezel/protocol'
import { FeedUnavailableError, type FeedPages } from './feed/pages.ts'
import { createMarketHours, watchOpenFlags, type MarketHours, type OpenFlags } from './hours.ts'

const SUNDAY_NOON = Date.parse('2026-11-15T12:00:00-05:00')
const MONDAY_NOON = Date.parse('2026-11-16T12:00:00-05:00')
const BLACK_FRIDAY_NOON = Date.parse('2026-11-27T12:00:00-05:00')
const THANKSGIVING_NOON = Date.parse('2026-11-26T12:00:00-05:00')

const btc = { pairIndex: 0, group: 'crypto' } as const
const eur = { pairIndex: 21, group: 'forex' } as const
const spy = { pairIndex: 86, group: 'indices' } as const
const aapl = { pairIndex: 58, group: 'stocks' } as const
const xau = { pairIndex: 90, group: 'commodities' } as const

describe('hours of markets', () => {
  let hours: MarketHours
  let pairFlags: OpenFlags<number>
  let polls = 0
  afterEach(() => pairFlags.close())

  async function watch(marketStatus: FeedPages['marketStatus'], now: () => number, pollMs = 5): Promise<void> {
    polls = 0
    const counted = async () => {
      polls += 1
      return marketStatus()
    }
    pairFlags = watchOpenFlags({ read: counted, now, pollMs })
    hours = createMarketHours({ pairFlags, now })
    await until('the first look', () => polls > 0)
  }

  it('goes by New York hours where the upstream has no flags', async () => {
    let nowMs = SUNDAY_NOON
    await watch(
      async () => undefined,
      () => nowMs,
    )
    const open = () => [btc, eur, spy, aapl, xau].map((market) => hours.isOpen(market))
    assert.deepEqual(open(), [true, false, false, false, false])
    nowMs = MONDAY_NOON
    assert.deepEqual(open(), [true, true, true, true, true])
    nowMs = THANKSGIVING_NOON
    assert.deepEqual(open(), [true, true, false, false, true])
  })

  it('knows when a closed market opens, by its hours alone', async () => {
    let nowMs = SUNDAY_NOON
    await watch(
      async () => undefined,
      () => nowMs,
    )
    const opens = () => [eur, spy, aapl, xau].map((market) => new Date(hours.opensAt(market)!).toISOString())
    assert.deepEqual(opens(), [
      '2026-11-15T22:00:00.000Z',
      '2026-11-16T14:35:00.000Z',
      '2026-11-16T14:35:00.000Z',
      '2026-11-15T23:10:00.000Z',
    ])
    nowMs = THANKSGIVING_NOON
    assert.equal(new Date(hours.opensAt(spy)!).toISOString(), '2026-11-27T14:35:00.000Z')
    // A market within its hours is closed by the upstream's flag only.
    for (const market of [btc, eur]) assert.equal(hours.opensAt(market), null)
  })

  it('lets the flag win, and hours decide for pairs without one', async () => {
    const flags = new Map([
      [0, false],
      [21, true],
    ])
    await watch(
      async () => flags,
      () => SUNDAY_NOON,
    )
    await until('the flags', () => !hours.isOpen(btc))
    assert.deepEqual([hours.isOpen(eur), hours.isOpen(spy)], [true, false])
  })

  it('follows the flags, counting their changes and nothing else', async () => {
    let open = true
    await watch(
      async () => new Map([[21, open]]),
      () => SUNDAY_NOON,
    )
    await until('open', () => hours.isOpen(eur))
    const { version } = hours
    const before = version()
    await until('more looks', () => polls > 5)
    assert.equal(version(), before)
    open = false
    await until('closed', () => !hours.isOpen(eur))
    assert.equal(version(), before + 1)
  })

  it('keeps the last flags through an outage, but not for ever', async () => {
    let nowMs = SUNDAY_NOON
    let isUp = true
    const status = async () => {
      if (!isUp) throw new FeedUnavailableError('away')
      return new Map([[21, true]])
    }
    await watch(status, () => nowMs)
    await until('the flags', () => hours.isOpen(eur))
    isUp = false
    const looks = polls
    await until('a failed look', () => polls > looks + 2)
    nowMs += 30_000
    assert.equal(hours.isOpen(eur), true)
    nowMs += 60_000
    assert.equal(hours.isOpen(eur), false)
  })

  it('close shares at 13:00 in New York on a half day, as the published SDK does', async () => {
    let nowMs = BLACK_FRIDAY_NOON
    await watch(
      async () => undefined,
      () => nowMs,
    )
    const open = () => [eur, spy, aapl, xau].map((market) => hours.isOpen(market))
    assert.deepEqual(open(), [true, true, true, true])
    nowMs += 3_600_000
    assert.deepEqual(open(), [true, false, false, true])
    assert.equal(new Date(hours.opensAt(aapl)!).toISOString(), '2026-11-30T14:35:00.000Z')
    // The half days that the SDK knows; it opens them at 09:30, five minutes before the usual time.
    for (const day of ['2025-07-03T09:35:00-04:00', '2025-11-28T09:35:00-05:00', '2025-12-24T09:35:00-05:00']) {
      for (let minute = 0; minute < 24 * 60 - 10; minute += 5) {
        nowMs = Date.parse(day) + minute * 60_000
        assert.equal(hours.isOpen(aapl), isStocksOpen(new Date(nowMs)), new Date(nowMs).toISOString())
      }
    }
  })

  it("let a backend's flag of a group win over the hours, and a flag of the pair over both", async () => {
    let nowMs = BLACK_FRIDAY_NOON
    const pairs = new Map([[58, true]])
    let groups: ReadonlyMap<MarketGroup, boolean> | undefined = new Map([
      ['stocks', false],
      ['indices', false],
    ])
    let looks = 0
    await watch(
      async () => pairs,
      () => nowMs,
    )
    const groupFlags = watchOpenFlags({ read: async () => ((looks += 1), groups), now: () => nowMs, pollMs: 1 })
    hours = createMarketHours({ pairFlags, groupFlags, now: () => nowMs })
    await until('the flags', () => !hours.isOpen(spy))
    assert.deepEqual([hours.isOpen(aapl), hours.isOpen(eur), hours.isOpen(btc)], [true, true, true])
    assert.equal(hours.opensAt(spy), null, 'nobody says until when')
    const before = hours.version()
    groups = new Map([
      ['stocks', false],
      ['indices', true],
    ])
    nowMs = THANKSGIVING_NOON
    await until('open on a holiday', () => hours.isOpen(spy))
    assert.equal(hours.version(), before + 1)
    groups = undefined
    const seen = looks
    await until('a look without flags', () => looks > seen + 1)
    assert.equal(hours.isOpen(spy), false, 'by its hours')
    groupFlags.close()
  })
})
