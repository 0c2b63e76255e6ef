import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { nextOpenMs, type MarketGroup, type MarketSession } from '@bezel/protocol'
import { regularOpening } from './regularHours.ts'

const HOUR_MS = 3_600_000

const SESSIONS: readonly (readonly [MarketGroup, MarketSession])[] = [
  ['crypto', 'crypto'],
  ['forex', 'forex'],
  ['stocks', 'stocks'],
  ['indices', 'stocks'],
  ['commodities', 'commodities'],
]

/** Weeks without a holiday, in summer time, in winter time, and around both changes of the clock. */
const WEEKS = ['2026-06-06', '2026-01-31', '2026-03-07', '2026-10-31']

describe('the regular hours', () => {
  it('begin when the service says that a market opens, in every hour of a week', () => {
    for (const [group, session] of SESSIONS) {
      for (const week of WEEKS) {
        for (let hour = 0; hour < 7 * 24; hour += 1) {
          const nowMs = Date.parse(week) + hour * HOUR_MS + 60_000
          const opensAtMs = nextOpenMs(session, nowMs)
          assert.equal(
            regularOpening(group, nowMs),
            opensAtMs === nowMs ? null : opensAtMs,
            `${group} ${new Date(nowMs).toISOString()}`,
          )
        }
      }
    }
  })
})
