import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { Address, OrderId } from '@bezel/protocol'
import { foldPosition } from '../trading/positions/foldPosition.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { migrate } from './openStore.ts'
import { listLiveOrders } from './orderStore.ts'
import {
  findPositionIdByHandle,
  insertPositionEvent,
  listDueUpdates,
  listOpenPositions,
  listPositionEvents,
  savePositionState,
} from './positionStore.ts'
import { openTestStore, type TestStore } from './testing/testStore.ts'
import { TEST_SCOPE } from './testing/testScope.ts'

/** The number of migrations of the code before pending changes were followed. */
const BEFORE = 11

const TRADER = `0x${'a1'.repeat(20)}` as Address

/** A position's event and state as the code before wrote them. */
const PLACE = `"blockNumber":5,"blockHash":"0x05","logIndex":2,"txHash":"0x01","timestampMs":1250`
const TRADE = `{"user":"${TRADER}","index":4,"pairIndex":0,"leverage":10000,"long":true,"isOpen":true,"collateralIndex":3,"tradeType":0,"collateralAmount":"100000000n","openPrice":"600120000000000n","tp":"0n","sl":"0n","isCounterTrade":false,"positionSizeToken":"16663333999866693n"}`
const INFO = `{"collateralPriceUsd":100000000,"contractsVersion":2,"lastPosIncreaseBlock":5}`
const LIQUIDATION = `{"maxLiqSpreadP":500000000,"startLiqThresholdP":900000000000,"endLiqThresholdP":750000000000,"startLeverage":25000,"endLeverage":60000}`
const OPENED = `{${PLACE},"kind":"opened","trade":${TRADE},"info":${INFO},"liquidationParams":${LIQUIDATION},"maxClosingSlippageP":0}`
const STATE = `{"isOpen":true,"trade":${TRADE},"info":${INFO},"liquidationParams":${LIQUIDATION},"feesData":{"realizedTradingFeesCollateral":"0n","realizedPnlCollateral":"0n","initialAccFundingFeeP":"0n","initialAccBorrowingFeeP":"0n"},"maxClosingSlippageP":0,"openedAtBlock":5,"openedAtMs":1250,"updatedAtMs":1250}`

describe('a store written before pending changes were followed', () => {
  let opened: TestStore
  beforeEach(async () => {
    opened = openTestStore()
    await migrate(opened.store, MIGRATIONS.slice(0, BEFORE))
    await opened.store.transaction(TEST_SCOPE, async (sql) => {
      for (const [id, status] of [
        [1, 'filled'],
        [2, 'timed_out'],
      ] as const) {
        const insert = `insert into orders (id, chain, trader, request, created_at, spend_usd, status, state)
           values ($1, 'base', $2, '{}', 1, '0', $3, '{}')`
        await sql.run(insert, BigInt(id), TRADER, status)
      }
      const insert =
        'insert into positions (id, chain, trader, origin_order_id, trade_index, is_open, state) values ($1, $2, $3, 1, $4, $5, $6)'
      await sql.run(insert, 7n, 'base', TRADER, 4, 1n, STATE)
      await sql.run(
        `insert into position_events (chain, block_hash, log_index, block_number, position_id, body)
         values ('base', '0x05', 2, 5, 7, $1)`,
        OPENED,
      )
    })
    await migrate(opened.store)
  })
  afterEach(() => opened.remove())

  it('has positions without a pending change, which equal a fold of their events', async () => {
    const { read } = opened.store
    const [position] = await listOpenPositions(read, 'base')
    assert.deepEqual([position?.state?.pendingUpdate, position?.state?.updateRefusal], [null, null])
    assert.deepEqual(position?.state, foldPosition(await listPositionEvents(read, '7' as OrderId)))
  })

  it('lists timed-out orders as open ones', async () => {
    const live = await listLiveOrders(opened.store.read, 'base', TRADER)
    assert.deepEqual(
      live.map(({ record }) => record.id),
      ['2'],
    )
  })

  it('takes a pending change from then on', async () => {
    const [position] = await listOpenPositions(opened.store.read, 'base')
    const handle = `pending:${TRADER}:9` as const
    const event = {
      blockNumber: 6,
      blockHash: '0x06' as never,
      logIndex: 1,
      txHash: '0x02' as never,
      timestampMs: 1_500,
      kind: 'updateRequested',
      pendingIndex: 9,
      update: 'leverage',
      leverage: 5_000,
      collateralAmount: 1n as never,
      attemptId: null,
    } as const
    await opened.store.transaction(TEST_SCOPE, async (sql) => {
      await insertPositionEvent(sql, { chain: 'base', positionId: '7' as OrderId, event, handle })
      const state = foldPosition(await listPositionEvents(sql, '7' as OrderId))!
      const pendingUpdate = { ...state.pendingUpdate!, timesOutAtBlock: 20 }
      await savePositionState(sql, position!.record.id, { ...state, pendingUpdate })
    })
    const { read } = opened.store
    assert.equal(await findPositionIdByHandle(read, 'base', handle), '7')
    assert.deepEqual(await listDueUpdates(read, 'base', { headBlock: 19, limit: 9 }), [])
    assert.deepEqual(await listDueUpdates(read, 'base', { headBlock: 20, limit: 9 }), ['7'])
  })
})
