import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { compareClocks, readClockAhead, wrongClockText, type ClockComparison } from './databaseClock.ts'
import { openTestStore, type TestStore } from './testing/testStore.ts'

/** A time of the database, and one of the clock that never steps. */
const DATABASE_MS = 1_800_000_000_000
const TICK_MS = 5_000

describe('the clock of a machine beside that of the database', () => {
  const clock = { nowMs: 0, tickMs: 0 }
  let clocks: ClockComparison
  beforeEach(() => {
    Object.assign(clock, { nowMs: DATABASE_MS, tickMs: TICK_MS })
    clocks = compareClocks({ now: () => clock.nowMs, monotonicMs: () => clock.tickMs })
  })

  /** Tells a time that was asked for `tripMs` ago and has just come. */
  const tell = (tripMs: number): void =>
    clocks.note({ databaseMs: DATABASE_MS, sentMs: TICK_MS - tripMs, receivedMs: TICK_MS })
  const pass = (ms: number): void => {
    clock.nowMs += ms
    clock.tickMs += ms
  }

  it('is right before the database told its time', () => {
    clock.nowMs += 60_000
    assert.deepEqual([clocks.aheadMs(), clocks.isWrong()], [0, false])
  })

  it('is wrong beyond a second, ahead or behind', () => {
    tell(0)
    for (const [offMs, isWrong] of [
      [0, false],
      [1_000, false],
      [1_001, true],
      [-1_000, false],
      [-1_001, true],
      [60_000, true],
      [-60_000, true],
    ] as const) {
      clock.nowMs = DATABASE_MS + offMs
      assert.deepEqual([clocks.aheadMs(), clocks.isWrong()], [offMs, isWrong], String(offMs))
    }
  })

  it('is not blamed for the time of the trip', () => {
    tell(800)
    // The time may have been told at the beginning of the trip, so the clock may be right.
    clock.nowMs = DATABASE_MS + 800
    assert.equal(clocks.aheadMs(), 0)
    clock.nowMs = DATABASE_MS + 1_800
    assert.deepEqual([clocks.aheadMs(), clocks.isWrong()], [1_000, false])
    clock.nowMs += 1
    assert.equal(clocks.isWrong(), true)
    clock.nowMs = DATABASE_MS - 1_001
    assert.equal(clocks.isWrong(), true)
  })

  it('is seen to be stepped, and to be set right, without another word of the database', () => {
    tell(0)
    pass(900)
    assert.equal(clocks.isWrong(), false)
    clock.nowMs += 60_000
    assert.deepEqual([clocks.aheadMs(), clocks.isWrong()], [60_000, true])
    pass(5_000)
    assert.equal(clocks.isWrong(), true)
    clock.nowMs -= 60_000
    assert.deepEqual([clocks.aheadMs(), clocks.isWrong()], [0, false])
  })
})

describe('readClockAhead', () => {
  let opened: TestStore
  before(() => (opened = openTestStore()))
  after(() => opened.remove())

  it('asks the engine for its time', async () => {
    const { read } = opened.store
    assert.equal(wrongClockText(await readClockAhead(read)), undefined)
    const early = await readClockAhead(read, () => Date.now() - 3_600_000)
    assert.match(
      wrongClockText(early)!,
      /^This machine's clock is 3(?:600\.0|599\.\d) s behind that of PostgreSQL, .*NTP/,
    )
    const late = await readClockAhead(read, () => Date.now() + 3_600_000)
    assert.match(wrongClockText(late)!, / s ahead of that of PostgreSQL, /)
  })
})
