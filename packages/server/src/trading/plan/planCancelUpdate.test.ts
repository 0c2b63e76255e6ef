import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CollateralAmount, type OrderId } from '@bezel/protocol'
import type { LivePosition, WaitingUpdate } from '../positions/positionModel.ts'
import { usdc } from '../valuation/testing/fixtures.ts'
import { planCancelUpdate, reclaimFirst } from './planCancelUpdate.ts'
import { planClosePosition } from './planClosePosition.ts'
import { planCreateOrder } from './planCreateOrder.ts'
import { normalizeOrder } from './normalizeOrder.ts'
import { planUpdatePosition } from './planUpdatePosition.ts'
import { BODY, contextOf, decoded, positionOf, refusalOf } from './testing/fixtures.ts'

const UPDATE: WaitingUpdate = {
  kind: 'leverage',
  pendingIndex: 31,
  leverage: 5_000,
  collateralDelta: usdc(100),
  attemptId: null,
  txHash: '0x00' as never,
  createdAtMs: 1_000,
  createdBlock: 100,
  timesOutAtBlock: 300,
  status: 'timed_out',
}

function waiting(update: Partial<WaitingUpdate> = {}, position = positionOf()): LivePosition {
  return { ...position, state: { ...position.state, pendingUpdate: { ...UPDATE, ...update } } }
}

const RECLAIM = { name: 'cancelOrderAfterTimeout', args: [31] }
const { chain } = contextOf()

describe('the reclaim of a change of a position', () => {
  it('is one call, once the change has timed out', () => {
    const plan = planCancelUpdate(waiting(), chain, { headBlock: 300 })
    assert.deepEqual(plan.calls.map(decoded), [RECLAIM])
    assert.deepEqual([plan.kind, plan.action.market, plan.takes], ['reclaim', 'BTC/USD', null])
  })

  it('is refused before that, and where nothing is pending, with the blocks', () => {
    const of = (position: LivePosition) =>
      refusalOf(() => planCancelUpdate(position, chain, { headBlock: 299 }), 'ORDER_NOT_MODIFIABLE')
    assert.deepEqual(of(waiting({ status: 'pending' })), { block: 299, timesOutAtBlock: 300 })
    assert.deepEqual(of(positionOf()), { block: 299, timesOutAtBlock: null })
  })

  it('precedes another change, whose collateral may come from it', () => {
    const plan = (position: LivePosition) =>
      reclaimFirst(position, planUpdatePosition(position, { leverage: '8' }, contextOf()))
    const { calls, takes, touches } = plan(waiting())
    assert.deepEqual(calls.map(decoded), [RECLAIM, { name: 'updateLeverage', args: [4, 8_000] }])
    assert.deepEqual([takes?.amount, takes?.returned, touches], [usdc(25), usdc(100), [waiting()]])
    assert.equal(plan(waiting({ collateralDelta: CollateralAmount.of(-5n) })).takes?.returned, 0n)
    assert.deepEqual(
      plan(waiting({ status: 'pending' })).calls.map((call) => decoded(call).name),
      ['updateLeverage'],
    )
  })

  it('precedes a close, of each leg that needs it', () => {
    const { calls } = planClosePosition(waiting(), { slippage: '2' }, contextOf())
    const names = (of: typeof calls) => of.map((call) => decoded(call).name)
    assert.deepEqual(names(calls), ['cancelOrderAfterTimeout', 'updateMaxClosingSlippageP', 'closeTradeMarket'])
    const body = { ...BODY, side: 'short', reduceOnly: true, size: '1' } as const
    const positions = [positionOf({}, '7'), waiting({}, positionOf({ index: 5 }, '8'))]
    const account = { trader: positions[0]!.record.trader, positions, collateral: undefined }
    const reduction = planCreateOrder(normalizeOrder(body, contextOf()), contextOf(), account)
    assert.deepEqual(names(reduction.calls), ['closeTradeMarket', 'cancelOrderAfterTimeout', 'closeTradeMarket'])
    assert.deepEqual(
      reduction.touches?.map(({ record }) => record.id),
      ['7', '8'] as OrderId[],
    )
  })
})
