import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { diamondAbi, type Hex } from '@bezel/protocol'
import { encodeFunctionResult, type ContractFunctionReturnType } from 'viem'
import type { DiamondEvent } from '../chain/events.ts'
import { listOpenPositions } from '../store/positionStore.ts'
import type { PositionState } from '../trading/positions/positionModel.ts'
import { openFollowedFake, type FollowedFake } from './testing/followedFake.ts'
import {
  ALICE,
  CHAIN,
  downscaled,
  executed,
  feesRealized,
  ORACLE,
  requested,
  resized,
  stored,
} from './testing/handMade.ts'

const STARTED: DiamondEvent = {
  name: 'TradeInitialAccFeesStored',
  args: {
    trader: ALICE,
    index: 0,
    collateralIndex: 3,
    pairIndex: 0,
    long: true,
    currentPairPrice: 1n,
    newInitialAccFundingFeeP: -7n,
    newInitialAccBorrowingFeeP: 9n,
  },
}

const BORROWED: DiamondEvent = {
  name: 'BorrowingInitialAccFeesStored',
  args: {
    collateralIndex: 3,
    trader: ALICE,
    pairIndex: 0,
    index: 0,
    long: true,
    currentPairPrice: 1n,
    initialPairAccFee: 11n,
    initialGroupAccFee: 12n,
  },
}

const DOWNSCALED = downscaled({
  realizedTradingFeesCollateral: 375_000n,
  realizedPnlCollateral: -4n,
  manuallyRealizedNegativePnlCollateral: 5n,
  alreadyTransferredNegativePnlCollateral: 6n,
  virtualAvailableCollateralInDiamond: 7n,
  initialAccFundingFeeP: 21n,
  initialAccBorrowingFeeP: 22n,
})

const PARTIAL_OPEN = 8
const PARTIAL_CLOSE = 9

describe('the fee record of a position', () => {
  let fake: FollowedFake
  beforeEach(async () => {
    fake = await openFollowedFake()
    fake.node.mine({ from: ALICE, events: [requested()] })
  })
  afterEach(() => fake.opened.remove())

  async function positionNow(): Promise<PositionState> {
    await fake.follow()
    const [position] = await listOpenPositions(fake.opened.store.read, CHAIN)
    assert.ok(position?.state !== undefined)
    return position.state
  }

  const open = (...events: readonly DiamondEvent[]): Hex => fake.node.mine({ from: ORACLE, events })

  it('is whole, whether the contracts log the start of its fees before the trade or after it', async () => {
    open(STARTED, BORROWED, stored(), feesRealized(), executed())
    const early = await positionNow()
    assert.deepEqual(early.feesData, {
      realizedTradingFeesCollateral: 750_000n,
      realizedPnlCollateral: 0n,
      initialAccFundingFeeP: -7n,
      initialAccBorrowingFeeP: 9n,
    })
    assert.deepEqual(early.oldBorrowing, { accPairFee: 11n, accGroupFee: 12n, block: 1 })
    fake.node.rewind(1)
    open(stored(), STARTED, BORROWED, feesRealized(), executed())
    open()
    const { blocksUndone } = fake.following.stats()
    assert.deepEqual(await positionNow(), early)
    assert.equal(fake.following.stats().blocksUndone, blocksUndone + 1)
  })

  it('is not begun by news of a trade that is never stored', async () => {
    open(STARTED, BORROWED)
    await fake.follow()
    assert.deepEqual(await listOpenPositions(fake.opened.store.read, CHAIN), [])
    open(stored(), executed())
    const { feesData, oldBorrowing } = await positionNow()
    assert.deepEqual([feesData.initialAccBorrowingFeeP, oldBorrowing], [0n, null])
  })

  it('is what a partial close left of it, and whole again when that is undone', async () => {
    open(STARTED, BORROWED, stored(), feesRealized(), executed())
    const before = await positionNow()
    open(resized(), DOWNSCALED)
    const after = await positionNow()
    assert.deepEqual(after.feesData, {
      realizedTradingFeesCollateral: 375_000n,
      realizedPnlCollateral: -4n,
      initialAccFundingFeeP: 21n,
      initialAccBorrowingFeeP: 22n,
    })
    assert.equal(after.trade.collateralAmount, 50_000_000n)
    fake.node.rewind(1)
    open()
    open()
    assert.deepEqual(await positionNow(), before)
  })
})

describe('the liquidation parameters of an increased position', () => {
  type Params = ContractFunctionReturnType<typeof diamondAbi, 'view', 'getTradeLiquidationParams'>
  const RENEWED: Params = {
    maxLiqSpreadP: 11,
    startLiqThresholdP: 12,
    endLiqThresholdP: 13,
    startLeverage: 14,
    endLeverage: 15,
  }
  let fake: FollowedFake
  beforeEach(async () => {
    fake = await openFollowedFake()
    fake.node.mine({ from: ALICE, events: [requested()] })
    fake.node.mine({ from: ORACLE, events: [stored(), executed()] })
  })
  afterEach(() => fake.opened.remove())

  async function paramsAfter(pendingOrderType: number): Promise<unknown> {
    fake.node.mine({ from: ORACLE, events: [resized({ pendingOrderType })] })
    await fake.follow()
    const [position] = await listOpenPositions(fake.opened.store.read, CHAIN)
    return position?.state?.liquidationParams
  }

  it('are those that the Diamond then has for the trade', async () => {
    const result = encodeFunctionResult({ abi: diamondAbi, functionName: 'getTradeLiquidationParams', result: RENEWED })
    fake.node.lies.set('eth_call', result)
    assert.deepEqual(await paramsAfter(PARTIAL_OPEN), RENEWED)
  })

  it('stay as they are when it shrinks, and nothing is asked', async () => {
    fake.node.lies.set('eth_call', '0x')
    const kept = stored().args.liquidationParams
    assert.deepEqual(await paramsAfter(PARTIAL_CLOSE), kept)
    assert.ok(!fake.node.batches.flat().includes('eth_call'))
  })

  it('are those of the pair as last read where the node does not answer', async () => {
    const params = (await paramsAfter(PARTIAL_OPEN)) as Params
    assert.equal(fake.node.batches.flat().filter((method) => method === 'eth_call').length, 2, 'at the block, and now')
    assert.notDeepEqual(params, stored().args.liquidationParams)
    assert.equal(params.startLeverage, 25_000)
  })
})
