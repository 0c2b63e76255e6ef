import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { PendingOrderType } from '@bezel/protocol'
import type { DiamondEvent } from '../chain/events.ts'
import { insertPositionAttempt } from '../store/positionAttemptStore.ts'
import { findPositionByTrade } from '../store/positionStore.ts'
import type { AttemptId } from '../trading/orders/orderModel.ts'
import type { PositionState } from '../trading/positions/positionModel.ts'
import { describeStore } from './testing/describeStore.ts'
import { openFollowedFake, type FollowedFake } from './testing/followedFake.ts'
import {
  AGENT,
  ALICE,
  attemptId,
  BOB,
  calldataOf,
  CHAIN,
  executed,
  ORACLE,
  requested,
  resized,
  stored,
  tradeClosed,
} from './testing/handMade.ts'
import { TEST_SCOPE } from '../store/testing/testScope.ts'

/** Blocks after which a change times out. */
const TIMEOUT = 5

/** A decrease from leverage 10 to 5, with which the wallet gives another 100 USDC. */
const LESS = { leverage: 5_000, collateralAmount: 100_000_000n }

const asked = (index: number, terms = LESS, orderType: number = PendingOrderType.UPDATE_LEVERAGE) =>
  requested({ index, orderType, trade: terms })

const ended = (index: number): DiamondEvent => ({
  name: 'PendingOrderClosed',
  args: { orderId: { user: ALICE, index } },
})

const lowered = (): DiamondEvent =>
  resized({
    collateralAmount: 200_000_000n,
    leverage: 5_000,
    newPositionSizeToken: 16_000_000_000_000_000n,
    pendingOrderType: PendingOrderType.UPDATE_LEVERAGE,
  })

const answered = (index: number, cancelReason = 0): DiamondEvent => ({
  name: 'LeverageUpdateExecuted',
  args: {
    orderId: { user: ALICE, index },
    isIncrease: false,
    cancelReason,
    collateralIndex: 3,
    trader: ALICE,
    pairIndex: 0n,
    index: 0n,
    oraclePrice: 600_000_000_000_000n,
    collateralDelta: LESS.collateralAmount,
    values: {
      newLeverage: 5_000n,
      newCollateralAmount: 200_000_000n,
      existingLiqPrice: 0n,
      newLiqPrice: 0n,
      govFeeCollateral: 0n,
      newEffectiveLeverage: 0n,
      totalTradeAvailableCollateralInDiamond: 0n,
      availableCollateralInDiamond: 0n,
    },
  } as never,
})

const timedOut = (index: number): DiamondEvent => ({
  name: 'ChainlinkCallbackTimeout',
  args: { pendingOrderId: { user: ALICE, index }, pairIndex: 0n },
})

describe('changes of a position that wait for the oracle', () => {
  let fake: FollowedFake
  beforeEach(async () => {
    fake = await openFollowedFake({ timeoutBlocks: () => TIMEOUT })
    fake.node.mine({ from: BOB, events: [requested({ index: 0 })] })
    fake.node.mine({ from: ORACLE, events: [stored(), executed(), ended(0)] })
    await fake.follow()
  })
  afterEach(() => fake.opened.remove())

  async function mine(...events: readonly DiamondEvent[]): Promise<void> {
    fake.node.mine({ from: events.some(({ name }) => name === 'PendingOrderStored') ? BOB : ORACLE, events })
    await fake.follow()
  }
  /** Mines empty blocks, each of which is followed and stored for itself. */
  async function pass(blocks: number): Promise<void> {
    for (let n = 0; n < blocks; n += 1) {
      fake.node.mine()
      await fake.follow()
    }
  }
  const stateNow = async (): Promise<PositionState> =>
    (await findPositionByTrade(fake.opened.store.read, CHAIN, ALICE, 0))!.state!
  const updateNow = async () => (await stateNow()).pendingUpdate
  /** The number of commits that changed a position, each of which logs a `positions` event. */
  const changes = () => fake.commits.filter(({ positions }) => positions.length > 0).length

  it('are known from their request on, also when they were made elsewhere', async () => {
    await mine(asked(7))
    const update = await updateNow()
    const head = fake.following.head()!
    assert.deepEqual(
      [update?.kind, update?.pendingIndex, update?.leverage, update?.collateralDelta, update?.attemptId],
      ['leverage', 7, 5_000, 100_000_000n, null],
    )
    assert.deepEqual(
      [update?.status, update?.createdBlock, update?.timesOutAtBlock, update?.createdAtMs],
      ['pending', head.number, head.number + TIMEOUT, head.timestampMs],
    )
  })

  it('end with the answer, in one change of the position', async () => {
    await mine(asked(7))
    const before = changes()
    await mine(lowered(), answered(7), ended(7))
    const { pendingUpdate, updateRefusal, trade } = await stateNow()
    assert.deepEqual([pendingUpdate, updateRefusal, trade.leverage], [null, null, 5_000])
    assert.equal(changes() - before, 1)
  })

  it('are refused with the reason that the chain gives', async () => {
    await mine(asked(7))
    await mine(answered(7, 8), ended(7))
    const { pendingUpdate, updateRefusal, trade } = await stateNow()
    assert.deepEqual([pendingUpdate, trade.leverage], [null, 10_000])
    assert.deepEqual(
      [updateRefusal?.pendingIndex, updateRefusal?.reason, updateRefusal?.leverage],
      [7, 'MAX_LEVERAGE', 5_000],
    )
  })

  it('time out by the count of blocks, and can be answered or reclaimed afterwards', async () => {
    await mine(asked(7))
    await pass(TIMEOUT - 1)
    assert.equal((await updateNow())?.status, 'pending')
    const before = changes()
    await pass(1)
    assert.equal((await updateNow())?.status, 'timed_out')
    assert.equal(changes() - before, 1, 'the timeout alone is a change')
    await pass(3)
    assert.equal(changes() - before, 1)
    await mine(lowered(), answered(7), ended(7))
    assert.deepEqual([await updateNow(), (await stateNow()).trade.leverage], [null, 5_000])
    await mine(asked(8, { leverage: 10_000, collateralAmount: 100_000_000n }))
    assert.equal((await updateNow())?.collateralDelta, -100_000_000n, 'a rise gives collateral back')
    await pass(TIMEOUT)
    await mine(ended(8), timedOut(8))
    assert.equal(await updateNow(), null)
  })

  it('are undone with their blocks: the request, the answer, and the timeout', async () => {
    await mine(asked(7))
    await pass(TIMEOUT)
    assert.equal((await updateNow())?.status, 'timed_out')
    fake.node.rewind(2)
    await pass(1)
    assert.equal((await updateNow())?.status, 'pending', 'one block short')
    await mine(lowered(), answered(7), ended(7))
    assert.equal(await updateNow(), null)
    fake.node.rewind(1)
    await pass(2)
    assert.equal((await updateNow())?.status, 'timed_out')
    fake.node.rewind(TIMEOUT + 2)
    await pass(2)
    assert.equal(await updateNow(), null, 'it was never asked for')
    await mine(asked(7))
    await mine(answered(7, 12), ended(7))
    fake.node.rewind(1)
    await pass(2)
    assert.deepEqual([(await updateNow())?.status, (await stateNow()).updateRefusal], ['pending', null])
  })

  it('say the same after a reorganisation as to a follower of the new chain alone', async () => {
    await mine(asked(7))
    await pass(TIMEOUT)
    fake.node.rewind(3)
    await mine(asked(7))
    await pass(4)
    const fresh = await openFollowedFake({ client: fake.node.client, timeoutBlocks: () => TIMEOUT })
    await fresh.follow()
    const contentOf = (of: FollowedFake) => describeStore(of.opened.store, CHAIN, { withRequests: true })
    assert.deepEqual(await contentOf(fake), await contentOf(fresh))
    await fresh.opened.remove()
  })

  it('are ours when their transaction ends with the id of an attempt for this position', async () => {
    const { store } = fake.opened
    const { record } = (await findPositionByTrade(store.read, CHAIN, ALICE, 0))!
    const prepared = (id: AttemptId, kind: 'leverage' | 'collateral', positionId = record.id) =>
      store.transaction(TEST_SCOPE, (sql) =>
        insertPositionAttempt(sql, { id, positionId, kind, sender: AGENT, pendingIndex: null, expiresAtMs: 1 }),
      )
    await prepared(attemptId('01'), 'collateral')
    await prepared(attemptId('02'), 'leverage')
    const send = async (id: AttemptId, index: number) => {
      fake.node.mine({ from: AGENT, input: calldataOf('5bfcc4f8', id), events: [asked(index)] })
      await fake.follow()
      const update = await updateNow()
      await mine(ended(index), timedOut(index))
      return [update?.kind, update?.attemptId]
    }
    assert.deepEqual(await send(attemptId('01'), 7), ['collateral', attemptId('01')])
    assert.deepEqual(await send(attemptId('02'), 8), ['leverage', attemptId('02')])
    assert.deepEqual(await send(attemptId('03'), 9), ['leverage', null])
  })

  it('are told by their kind', async () => {
    const kinds: readonly [number, string, bigint, number][] = [
      [PendingOrderType.MARKET_PARTIAL_OPEN, 'increase', 100_000_000n, 7_500],
      [PendingOrderType.PNL_WITHDRAWAL, 'withdrawal', -100_000_000n, 10_000],
      [PendingOrderType.MANUAL_HOLDING_FEES_REALIZATION, 'other', 0n, 10_000],
      [PendingOrderType.MANUAL_NEGATIVE_PNL_REALIZATION, 'other', 0n, 10_000],
    ]
    for (const [at, [orderType, kind, delta, leverage]] of kinds.entries()) {
      await mine(asked(10 + at, LESS, orderType))
      const update = await updateNow()
      assert.deepEqual([update?.kind, update?.collateralDelta, update?.leverage], [kind, delta, leverage])
      await mine(ended(10 + at), timedOut(10 + at))
      assert.equal(await updateNow(), null)
    }
  })

  it('leave closes and triggers alone, and outlive the position', async () => {
    await mine(requested({ index: 20, orderType: PendingOrderType.MARKET_CLOSE }))
    assert.equal(await updateNow(), null)
    await mine(ended(20), timedOut(20))
    await mine(asked(21))
    await mine(tradeClosed())
    await pass(TIMEOUT)
    const state = await stateNow()
    assert.deepEqual([state.isOpen, state.pendingUpdate?.status], [false, 'timed_out'])
  })
})
