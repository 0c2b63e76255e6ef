import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { HUNDRED_PERCENT, type FillHistoryEntry, type OrderId } from '@bezel/protocol'
import type { DiamondEvent, EventOf } from '../chain/events.ts'
import { listFills } from '../store/fillStore.ts'
import { openFollowedFake, type FollowedFake } from './testing/followedFake.ts'
import {
  AGENT,
  ALICE,
  attempt,
  attemptId,
  BOB,
  CHAIN,
  downscaled,
  executed,
  feesProcessed,
  feesRealized,
  ORACLE,
  orderRecord,
  requested,
  resized,
  stored,
  tradeClosed,
  txHash,
} from './testing/handMade.ts'

// The trade of the guide's example: 100 USDC at 10x, an opening fee of 0.75.

const TRADE = { collateralIndex: 3, trader: ALICE, index: 0 } as const

/** Holding fees of 0.2: funding 0.05, borrowing of both generations 0.15. */
const HELD: EventOf<'HoldingFeesChargedOnTrade'> = {
  name: 'HoldingFeesChargedOnTrade',
  args: {
    ...TRADE,
    currentPairPrice: 1n,
    tradeHoldingFees: {
      fundingFeeCollateral: 50_000n,
      borrowingFeeCollateral: 100_000n,
      borrowingFeeCollateral_old: 50_000n,
      totalFeeCollateral: 200_000n,
    },
    availableCollateralInDiamond: 99_250_000n,
    amountSentToVaultCollateral: 200_000n,
    newRealizedTradingFeesCollateral: 950_000n,
    newRealizedPnlCollateral: 0n,
  },
}

const IMPACT = executed().args.priceImpact

/** Half of the trade is closed with a profit of 5 and a fee of 0.375. */
const HALVED: readonly DiamondEvent[] = [
  HELD,
  resized({ isPnlPositive: true }),
  downscaled({ realizedTradingFeesCollateral: 475_000n }),
  feesProcessed(9, 375_000n),
  {
    name: 'PositionSizeDecreaseExecuted',
    args: {
      orderId: { user: ALICE, index: 1 },
      cancelReason: 0,
      collateralIndex: 3,
      trader: ALICE,
      pairIndex: 0n,
      index: 0n,
      long: true,
      oraclePrice: 1n,
      collateralPriceUsd: 100_000_000n,
      collateralDelta: 50_000_000n,
      leverageDelta: 0n,
      values: {
        isLeverageUpdate: false,
        positionSizeCollateralDelta: 500_000_000n,
        existingPositionSizeCollateral: 1_000_000_000n,
        existingLiqPrice: 0n,
        newLiqPrice: 0n,
        priceImpact: IMPACT,
        existingPnlPercent: 10n,
        partialRawPnlCollateral: 5_000_000n,
        partialNetPnlCollateral: 4_525_000n,
        pnlToRealizeCollateral: 0n,
        closingFeeCollateral: 375_000n,
        totalAvailableCollateralInDiamond: 0n,
        availableCollateralInDiamond: 0n,
        collateralSentToTrader: 54_150_000n,
        newCollateralAmount: 50_000_000n,
        newLeverage: 10_000,
      },
    },
  },
]

type Field = keyof FillHistoryEntry
const AMOUNTS = ['deposit', 'payout', 'pnl', 'feeCollateral', 'fundingFee', 'borrowingFee', 'netPnl'] as const

describe('the books of the follower', () => {
  let fake: FollowedFake
  beforeEach(async () => {
    fake = await openFollowedFake()
    fake.node.mine({ from: ALICE, events: [requested()] })
  })
  afterEach(() => fake.opened.remove())

  async function entries(): Promise<FillHistoryEntry[]> {
    await fake.follow()
    const of = { chain: CHAIN, trader: ALICE, cursor: undefined, limit: 100 }
    return (await listFills(fake.opened.store.read, of)).map(({ fill }) => fill).toReversed()
  }
  const shown = (entry: FillHistoryEntry | undefined, fields: readonly Field[]): unknown[] =>
    fields.map((field) => entry?.[field])

  const answer = (...events: readonly DiamondEvent[]) => fake.node.mine({ from: ORACLE, events })
  const open = () => answer(stored(), feesRealized(750_000n, 750_000n), feesProcessed(), executed())
  const request = (orderType: number) => {
    fake.node.mine({ from: ALICE, events: [requested({ index: 1, orderType, trade: { index: 0 } })] })
  }

  it('tell the example of the guide: an opening, and half of it closed', async () => {
    open()
    request(9)
    answer(...HALVED)
    const [opening, half] = await entries()
    assert.deepEqual(shown(opening, AMOUNTS), ['100', '0', '0', '0.75', '0', '0', '-0.75'])
    assert.deepEqual(shown(half, AMOUNTS), ['0', '54.15', '5', '0.375', '0.05', '0.15', '4.425'])
    assert.deepEqual([opening!.forfeited, half!.forfeited], ['0', '0'])
    assert.deepEqual([opening!.collateralSymbol, half!.collateralSymbol], ['USDC', 'USDC'])
  })

  it('are undone with their block, and told anew', async () => {
    open()
    request(9)
    const before = (await entries()).length
    answer(...HALVED)
    const [, half] = await entries()
    fake.node.rewind(1)
    fake.node.mine({ from: BOB })
    fake.node.mine()
    assert.equal((await entries()).length, before)
    answer(...HALVED)
    const [, again] = await entries()
    assert.deepEqual(shown(again, [...AMOUNTS, 'forfeited']), shown(half, [...AMOUNTS, 'forfeited']))
  })

  it('end with all payouts less all deposits, and show what was not paid', async () => {
    open()
    request(9)
    answer(...HALVED)
    request(1)
    const end = executed({
      pendingIndex: 1,
      open: false,
      percentProfit: -HUNDRED_PERCENT,
      trade: { collateralAmount: 50_000_000n },
    })
    answer(tradeClosed(), feesProcessed(1, 375_000n), end)
    const told = await entries()
    const closing = told.at(-1)
    assert.deepEqual(shown(closing, [...AMOUNTS, 'forfeited']), [
      '0',
      '0',
      '-50',
      '0.375',
      '0',
      '0',
      '-49.525',
      '-0.85',
    ])
    const sum = told.reduce((total, { netPnl }) => total + Number(netPnl), 0)
    assert.equal(sum.toFixed(6), '-45.850000')
  })

  it('name the order and its client id', async () => {
    const first = attemptId('01')
    const id = await fake.prepare(orderRecord(50, { clientId: 'mine' }), attempt(first))
    const { calldata } = attempt(first)
    fake.node.mine({ from: AGENT, input: calldata, hash: txHash('77'), events: [requested({ index: 1 })] })
    answer(stored(), feesRealized(750_000n, 750_000n), feesProcessed(), executed({ pendingIndex: 1 }))
    const [opening] = await entries()
    assert.deepEqual([opening!.orderId, opening!.clientId], [id, 'mine'])
  })

  const govFee = (amountCollateral: bigint, collateralIndex = 3): DiamondEvent => ({
    name: 'GovFeeCharged',
    args: { trader: ALICE, collateralIndex, amountCollateral },
  })
  const openCanceled = (index: number, collateralReturned: bigint): DiamondEvent => ({
    name: 'MarketOpenCanceled',
    args: { orderId: { user: ALICE, index }, trader: ALICE, pairIndex: 0n, cancelReason: 3, collateralReturned },
  })

  it('have an entry for a refused open, which names the order', async () => {
    answer(govFee(91_875n), openCanceled(0, 99_908_125n))
    const [refused, ...others] = await entries()
    assert.deepEqual(others, [])
    assert.equal(refused!.action, 'TradeOpenRefused')
    assert.deepEqual(shown(refused, AMOUNTS), ['100', '99.908125', '0', '0.091875', '0', '0', '-0.091875'])
    assert.deepEqual([refused!.positionId, refused!.size], [refused!.orderId, '0'])
    assert.deepEqual(
      fake.commits.flatMap(({ fills }) => fills),
      [],
      'nothing for the tape',
    )
  })

  it('have no fee of another collateral in a refused open', async () => {
    answer(govFee(91_875n, 2), openCanceled(0, 100_000_000n))
    assert.deepEqual(await entries(), [])
  })

  it('have no fee of an open before it in the same transaction in a refused one', async () => {
    fake.node.mine({ from: ALICE, events: [requested({ index: 1 })] })
    answer(stored(), feesRealized(750_000n, 750_000n), govFee(91_875n), executed(), openCanceled(1, 100_000_000n))
    assert.deepEqual(
      (await entries()).map(({ action }) => action),
      ['TradeOpenedMarket'],
    )
  })

  const closeCanceled = (cancelReason: number): DiamondEvent => ({
    name: 'MarketCloseCanceled',
    args: { orderId: { user: ALICE, index: 1 }, trader: ALICE, pairIndex: 0n, index: 0n, cancelReason },
  })

  it('have an entry for a refused close that charged the position, and none for one that cost nothing', async () => {
    open()
    request(1)
    answer(feesRealized(91_875n, 841_875n), closeCanceled(3))
    const [opening, refused] = await entries()
    assert.deepEqual(shown(refused, ['action', 'positionId', 'side']), [
      'TradeUpdateRefused',
      opening!.positionId,
      'long',
    ])
    assert.deepEqual(shown(refused, AMOUNTS), ['0', '0', '0', '0.091875', '0', '0', '-0.091875'])
    assert.notEqual(refused!.orderId, null)
    answer(closeCanceled(9))
    assert.equal((await entries()).length, 2)
  })

  it('have an entry for holding fees that nothing but a request realised', async () => {
    open()
    answer(HELD)
    const [, realized] = await entries()
    assert.equal(realized?.action, 'TradeLeverageUpdate')
    assert.deepEqual(shown(realized, [...AMOUNTS, 'orderId']), ['0', '0', '0', '0', '0.05', '0.15', '-0.2', null])
  })

  it('have an entry for profit that was withdrawn from an open position', async () => {
    open()
    request(11)
    const realized: EventOf<'PnlRealizedOnOpenTrade'> = {
      name: 'PnlRealizedOnOpenTrade',
      args: { ...TRADE, pnlCollateral: -3_000_000n, newRealizedPnlCollateral: -3_000_000n },
    }
    const withdrawn: EventOf<'TradePositivePnlWithdrawn'> = {
      name: 'TradePositivePnlWithdrawn',
      args: {
        ...TRADE,
        orderId: { user: ALICE, index: 1 },
        priceImpact: IMPACT,
        pnlPercent: 50_000_000_000n,
        withdrawablePositivePnlCollateral: 3_000_000n,
        currentPairPrice: 603_000_000_000_000n,
        pnlInputCollateral: 4_000_000n,
        pnlWithdrawnCollateral: 3_000_000n,
      },
    }
    answer(realized, feesRealized(91_875n, 841_875n, -3_000_000n), govFee(91_875n), withdrawn)
    request(1)
    const end = { pendingIndex: 1, open: false, percentProfit: 0n }
    answer(tradeClosed(), feesProcessed(1, 0n), executed(end))
    const told = await entries()
    assert.deepEqual(shown(told[1], ['action', 'price', 'orderId']), ['TradeLeverageUpdate', '60300', null])
    assert.deepEqual(shown(told[1], AMOUNTS), ['0', '3', '0', '0.091875', '0', '0', '-0.091875'])
    const sum = told.reduce((total, { netPnl }) => total + Number(netPnl), 0)
    assert.equal(sum.toFixed(6), '-97.000000', 'all payouts less all deposits')
  })

  it('follow a position that was opened before the first block only by what is known', async () => {
    answer(feesRealized(91_875n, 841_875n), closeCanceled(3))
    assert.deepEqual(await entries(), [])
    assert.equal((await fake.order('1' as OrderId)).state?.status, 'pending')
  })
})
