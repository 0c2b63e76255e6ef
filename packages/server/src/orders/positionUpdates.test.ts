import { diamondAbi, type ApiError, type OrderId, type PreparedTransaction } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { UNLIMITED_SCOPE } from '@bezel/testkit/agentClient.ts'
import { decodeFunctionData, encodeErrorResult, type Hex } from 'viem'
import { insertOrder, takeId } from '../store/orderStore.ts'
import { findPositionAttempt } from '../store/positionAttemptStore.ts'
import { insertPosition, savePositionState } from '../store/positionStore.ts'
import type { AttemptId } from '../trading/orders/orderModel.ts'
import { orderOf, positionOf } from '../trading/plan/testing/fixtures.ts'
import type { LivePosition, WaitingUpdate } from '../trading/positions/positionModel.ts'
import { usdc } from '../trading/valuation/testing/fixtures.ts'
import { cancelPositionUpdate } from './cancelPositionUpdate.ts'
import { closePosition } from './closePosition.ts'
import { createOrder } from './createOrder.ts'
import type { Relay, SignedWrite } from './signedWrite.ts'
import { AGENT, MARKET_BODY, openOrdersWorld, OTHER_TRADER, TRADER, type OrdersWorld } from './testing/ordersWorld.ts'
import { reverted } from './testing/scriptedNode.ts'
import { updatePosition } from './updatePosition.ts'
import { TEST_SCOPE } from '../store/testing/testScope.ts'

const code = (expected: string) => (error: unknown) => (error as { code?: string }).code === expected

const UPDATE: WaitingUpdate = {
  kind: 'leverage',
  pendingIndex: 31,
  leverage: 5_000,
  collateralDelta: usdc(100),
  attemptId: null,
  txHash: `0x${'ab'.repeat(32)}` as never,
  createdAtMs: 1_000,
  createdBlock: 100,
  timesOutAtBlock: 300,
  status: 'timed_out',
}

const ANSWER = {
  kind: 'leverage',
  leverage: '5',
  collateralDelta: '100',
  txHash: UPDATE.txHash,
  createdAt: 1_000,
  timesOutAtBlock: 300,
}

const CONFLICT = reverted(
  encodeErrorResult({ abi: diamondAbi, errorName: 'ConflictingPendingOrder', args: [7] } as never),
)

/** Returns the names of the trader's own calls inside the delegation. */
function innerCalls(transaction: PreparedTransaction | null): string[] {
  const decode = (data: unknown) => decodeFunctionData({ abi: diamondAbi, data: data as Hex })
  const inner = decode(decode(transaction!.data).args![1])
  if (inner.functionName !== 'multicall') return [inner.functionName]
  return (inner.args![0] as readonly Hex[]).map((call) => decode(call).functionName)
}

const attemptIdOf = (transaction: PreparedTransaction): AttemptId => `0x${transaction.data.slice(-16)}` as AttemptId

describe('pending changes of positions', () => {
  let world: OrdersWorld

  beforeEach(async () => {
    world = await openOrdersWorld()
    await world.register()
  })
  afterEach(() => world.remove())

  /** Keeps a position in the store, and in memory while it is open. */
  async function hold(
    pendingUpdate: WaitingUpdate | null,
    changes: Partial<LivePosition['state']> = {},
  ): Promise<void> {
    const { record: made, state: before } = positionOf()
    const state = { ...before, ...changes, pendingUpdate }
    const record = await world.opened.store.transaction(TEST_SCOPE, async (sql) => {
      const owned = { chain: 'arbitrum', trader: TRADER } as const
      const of = { ...made, ...owned, originOrderId: await takeId(sql) }
      await insertOrder(sql, { ...orderOf().record, ...owned, id: of.originOrderId })
      await insertPosition(sql, of)
      await savePositionState(sql, of.id, state)
      return of
    })
    if (state.isOpen) world.positions.push({ record, state })
  }
  const ID = '7' as OrderId
  const reclaim = (write: SignedWrite = world.write()) => cancelPositionUpdate(world.orders, write, ID)
  const change = (body: object) => updatePosition(world.orders, world.write(), ID, body)
  const close = (write: SignedWrite = world.write()) => closePosition(world.orders, write, ID, {})
  const stored = (transaction: PreparedTransaction) =>
    findPositionAttempt(world.opened.store.read, attemptIdOf(transaction), ID)

  it('are reclaimed once they are due', async () => {
    await hold(UPDATE)
    const { position, transaction } = await reclaim()
    assert.equal(position.id, '7')
    assert.deepEqual(innerCalls(transaction), ['cancelOrderAfterTimeout'])
    const attempt = await stored(transaction)
    assert.deepEqual([attempt?.kind, attempt?.pendingIndex, attempt?.sender], ['reclaim', 31, AGENT])
  })

  it('are not reclaimed before, where there is none, by another trader, or outside of the scope', async () => {
    await hold({ ...UPDATE, status: 'pending' })
    const details = { block: 100, timesOutAtBlock: 300 }
    await assert.rejects(reclaim(), (error: ApiError) => {
      assert.deepEqual([error.code, error.details], ['ORDER_NOT_MODIFIABLE', details])
      return true
    })
    const [held] = world.positions
    world.positions[0] = { ...held!, state: { ...held!.state, pendingUpdate: null } }
    await assert.rejects(reclaim(), (error: ApiError) => {
      assert.deepEqual([error.code, error.details], ['ORDER_NOT_MODIFIABLE', { block: 100, timesOutAtBlock: null }])
      return true
    })
    world.positions[0] = { ...held!, record: { ...held!.record, trader: OTHER_TRADER } }
    await assert.rejects(reclaim(), code('POSITION_NOT_FOUND'))
    world.positions[0] = { ...held!, state: { ...held!.state, pendingUpdate: UPDATE } }
    await world.register({ scope: { ...UNLIMITED_SCOPE, markets: ['EUR/USD'] } })
    await assert.rejects(reclaim(), code('SCOPE_MARKET_NOT_ALLOWED'))
  })

  it('are reclaimed from a position that was closed meanwhile', async () => {
    await hold(UPDATE, { isOpen: false })
    assert.deepEqual(innerCalls((await reclaim()).transaction), ['cancelOrderAfterTimeout'])
    await assert.rejects(close(), code('POSITION_NOT_FOUND'))
  })

  it('are not reclaimed when a late answer came while the node was asked', async () => {
    await hold(UPDATE)
    world.node.whileAsked = () =>
      world.opened.store.transaction(TEST_SCOPE, (sql) =>
        savePositionState(
          sql,
          ID,
          world.positions[0]!.state && {
            ...world.positions[0]!.state,
            pendingUpdate: null,
          },
        ),
      )
    await assert.rejects(reclaim(), code('ORDER_NOT_MODIFIABLE'))
  })

  it('are reclaimed by a close and by another change in the same transaction, and left alone by stops', async () => {
    await hold(UPDATE)
    assert.deepEqual(innerCalls((await close()).transaction), ['cancelOrderAfterTimeout', 'closeTradeMarket'])
    const leverage = await change({ leverage: '8' })
    assert.deepEqual(innerCalls(leverage.transaction), ['cancelOrderAfterTimeout', 'updateLeverage'])
    const kept = await stored(leverage.transaction)
    assert.deepEqual([kept?.kind, kept?.pendingIndex], ['leverage', 31])
    const collateral = await change({ collateral: { action: 'add', amount: '50' } })
    assert.equal((await stored(collateral.transaction))?.kind, 'collateral')
    const body = { ...MARKET_BODY, side: 'short', reduceOnly: true, size: '1', leverage: '2' } as const
    const { prepared } = await createOrder(world.orders, world.write(), body)
    assert.deepEqual(innerCalls(prepared.transaction), ['cancelOrderAfterTimeout', 'closeTradeMarket'])
    const stops = await change({ tp: '70000' })
    assert.deepEqual(innerCalls(stops.transaction), ['updateTp'])
    assert.equal(await stored(stops.transaction), undefined)
  })

  it('stand in the way before they are due, and the refusal says which', async () => {
    await hold({ ...UPDATE, status: 'pending' })
    world.node.simulation = CONFLICT
    for (const write of [() => close(), () => change({ leverage: '8' })]) {
      await assert.rejects(write(), (error: ApiError) => {
        const { errorName, pendingUpdate, positionId } = error.details as Record<string, unknown>
        assert.deepEqual([error.code, errorName, positionId], ['SIMULATION_REVERTED', 'ConflictingPendingOrder', '7'])
        assert.deepEqual(pendingUpdate, { ...ANSWER, status: 'pending' })
        return true
      })
    }
  })

  it('are reclaimed once by a relayer, whose transactions come one after the other', async () => {
    await hold(UPDATE)
    const taken = new Set<string>()
    const relayed = (): SignedWrite => {
      const write = world.write()
      const relay: Relay = { sender: AGENT, take: async (_sql, { id }) => void taken.add(id) }
      return { ...write, agent: { ...write.agent, mode: 'relayed' }, relay }
    }
    await world.register({ mode: 'relayed' })
    await reclaim(relayed())
    for (const write of [reclaim, close]) {
      await assert.rejects(write(relayed()), (error: ApiError) => {
        const details = error.details as Record<string, unknown>
        assert.deepEqual([error.code, details.errorName], ['SIMULATION_REVERTED', 'ConflictingPendingOrder'])
        assert.deepEqual(details.pendingUpdate, { ...ANSWER, status: 'timed_out' })
        return true
      })
    }
    assert.equal(taken.size, 1)
    world.market.nowMs += 300_001
    world.market.quotes.set(0, { ...world.market.quotes.get(0)!, updatedAtMs: world.market.nowMs })
    await reclaim(relayed())
    assert.equal(taken.size, 2)
  })
})
