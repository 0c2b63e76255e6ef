import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { ChainSlug } from '@bezel/protocol'
import { listNotices } from '../store/noticeStore.ts'
import { migrate } from '../store/openStore.ts'
import { insertOrder } from '../store/orderStore.ts'
import { openTestStore, type TestStore } from '../store/testing/testStore.ts'
import { orderOf, positionOf } from '../trading/plan/testing/fixtures.ts'
import type { WaitingUpdate, PositionState, UpdateRefusal } from '../trading/positions/positionModel.ts'
import { usdc } from '../trading/valuation/testing/fixtures.ts'
import { CAUSE, NOW_MS } from './testing/orderChanges.ts'
import { writeNotices } from './writeNotices.ts'
import { TEST_SCOPE } from '../store/testing/testScope.ts'

const CHAIN: ChainSlug = 'base'
const { record: made, state: QUIET } = positionOf()
const record = { ...made, chain: CHAIN }

const UPDATE: WaitingUpdate = {
  kind: 'leverage',
  pendingIndex: 31,
  leverage: 5_000,
  collateralDelta: usdc(100),
  attemptId: null,
  txHash: `0x${'ab'.repeat(32)}` as never,
  createdAtMs: NOW_MS - 60_000,
  createdBlock: 100,
  timesOutAtBlock: 300,
  status: 'pending',
}

const REFUSAL: UpdateRefusal = {
  kind: 'leverage',
  pendingIndex: 31,
  leverage: 5_000,
  reason: 'LIQ_REACHED',
  atMs: NOW_MS - 1_000,
}

const waiting = (changes: Partial<WaitingUpdate> = {}): PositionState => ({
  ...QUIET,
  pendingUpdate: { ...UPDATE, ...changes },
})
const late = waiting({ status: 'timed_out' })
const refused = (changes: Partial<UpdateRefusal> = {}): PositionState => ({
  ...QUIET,
  updateRefusal: { ...REFUSAL, ...changes },
})

describe('notices of pending changes of positions', () => {
  let opened: TestStore
  beforeEach(async () => {
    opened = openTestStore()
    await migrate(opened.store)
    await opened.store.transaction(TEST_SCOPE, (sql) =>
      insertOrder(sql, { ...orderOf().record, id: record.originOrderId }),
    )
  })
  afterEach(() => opened.remove())

  const commit = (before: PositionState | undefined, after: PositionState | undefined, isReorg = false) =>
    opened.store.transaction(TEST_SCOPE, (sql) =>
      writeNotices(sql, { orders: [], positions: [{ record, before, after }], cause: { ...CAUSE, isReorg } }),
    )
  const shown = () => listNotices(opened.store.read, record.trader, { nowMs: NOW_MS, limit: 10 })
  const types = async () => (await shown()).map(({ type }) => type)

  it('say that the oracle did not answer, and what to do', async () => {
    await commit(QUIET, waiting())
    assert.deepEqual(await types(), [])
    await commit(waiting(), late)
    const [notice] = await shown()
    assert.deepEqual(
      [notice?.type, notice?.severity, notice?.market, notice?.positionId, notice?.orderId],
      ['position_update_timed_out', 'warning', 'BTC/USD', '7', null],
    )
    assert.equal(
      notice?.message,
      'The oracles did not answer the change of a long position in BTC/USD on base to a leverage of 5 in time. The collateral it took from the wallet is locked, and no other change goes through until it is reclaimed. To reclaim it, call DELETE /v1/base/positions/7/pending-update and send the transaction it prepares; a close or another change of the position reclaims it too.',
    )
    await commit(late, late)
    assert.equal((await shown()).length, 1)
  })

  it('are withdrawn when the change ends, or has not timed out after all', async () => {
    for (const end of [QUIET, waiting(), waiting({ pendingIndex: 40 })]) {
      await commit(waiting(), late)
      assert.deepEqual(await types(), ['position_update_timed_out'])
      await commit(late, end)
      assert.deepEqual(await types(), [])
    }
  })

  it('say why a change was refused, and are withdrawn with its block', async () => {
    await commit(waiting(), refused())
    const [notice] = await shown()
    assert.equal(notice?.type, 'position_update_refused')
    assert.equal(
      notice.message,
      'The change of a long position in BTC/USD on base to a leverage of 5 was refused: the price had already reached its liquidation price. The position stays as it was, less the fee that the contracts charge for a refusal.',
    )
    assert.equal(notice.createdAt, REFUSAL.atMs)
    const again = refused({ pendingIndex: 32, reason: 'MAX_LEVERAGE' })
    await commit(refused(), again)
    assert.deepEqual(await types(), ['position_update_refused', 'position_update_refused'])
    await commit(again, refused(), true)
    assert.equal((await shown()).length, 1)
    await commit(refused(), waiting(), true)
    assert.deepEqual(await shown(), [])
  })

  it('are left to the order of an increase, and old news are none', async () => {
    await commit(waiting({ kind: 'increase' }), waiting({ kind: 'increase', status: 'timed_out' }))
    await commit(QUIET, refused({ kind: 'increase' }))
    const longAgo = NOW_MS - 86_400_001
    await commit(QUIET, waiting({ status: 'timed_out', createdAtMs: longAgo }))
    await commit(QUIET, refused({ atMs: longAgo }))
    assert.deepEqual(await shown(), [])
  })
})
