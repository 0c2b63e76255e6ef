import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { numberCommit } from '../store/commitStore.ts'
import { migrate } from '../store/openStore.ts'
import { openTestStore, type TestStore } from '../store/testing/testStore.ts'
import { createChainTime, MAX_HELD_MS, type ChainTime } from './chainTime.ts'

const CHAIN = 'arbitrum'
const NOON_MS = 1_800_000_000_000
const DAY_MS = 86_400_000

describe('the time of a chain', () => {
  let opened: TestStore
  let clockMs: number
  let time: ChainTime

  beforeEach(async () => {
    opened = openTestStore()
    await migrate(opened.store)
    clockMs = NOON_MS
    time = createChainTime(CHAIN, () => clockMs)
  })
  afterEach(() => opened.remove())

  /** Commits something, and returns its time. */
  const commit = (by = time): Promise<number> =>
    opened.store.transaction({ chain: CHAIN }, async (sql) => {
      const at = await by.read(sql)
      numberCommit(sql, { chain: CHAIN, atMs: at.nowMs, maxHeldMs: MAX_HELD_MS, body: () => '' }, () =>
        by.note(at.nowMs),
      )
      return at.nowMs
    })

  it('stands still while the clock is behind the last commit, also of another process', async () => {
    assert.equal(await commit(), NOON_MS)
    clockMs -= 60_000
    assert.equal(await commit(), NOON_MS)
    assert.equal(time.now(), NOON_MS)
    assert.equal(await commit(createChainTime(CHAIN, () => clockMs)), NOON_MS)
    clockMs += 61_000
    assert.equal(await commit(), NOON_MS + 1_000)
  })

  it('is not held where a clock was wrong by more than clocks differ', async () => {
    clockMs += DAY_MS
    assert.equal(await commit(), NOON_MS + DAY_MS)
    clockMs = NOON_MS
    assert.equal(time.now(), NOON_MS)
    assert.equal(await commit(), NOON_MS)
    clockMs -= MAX_HELD_MS
    assert.equal(await commit(), NOON_MS, 'the right time is held again')
    assert.equal(await commit(createChainTime(CHAIN, () => clockMs)), NOON_MS)
  })
})
