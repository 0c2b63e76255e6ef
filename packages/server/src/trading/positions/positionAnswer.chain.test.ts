import type { LivePosition } from './positionModel.ts'
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import {
  formatDecimal,
  Price,
  scaleDecimal,
  withScales,
  type Address,
  type Decimal,
  type OrderId,
  type Position,
} from '@bezel/protocol'
import { numberToHex } from 'viem'
import {
  ALICE,
  BOB,
  BTC,
  openPosition,
  setBorrowingRate,
  setFunding,
  USDC,
  usd,
  usdc,
} from '../../../../../contracts/test/trading.ts'
import { createWorld, type World } from '../../../../../contracts/test/world.ts'
import type { RpcClient } from '../../chain/rpcClient.ts'
import type { ChainMarkets } from '../market/chainMarkets.ts'
import { fundingRecord } from '../market/marketRecord.ts'
import { assembleMarkets } from '../../market/listing/assembleMarkets.ts'
import { readListing } from '../../market/listing/readListing.ts'
import { readMoment, readState } from '../../market/listing/readState.ts'
import { ORDINARY_TERMS, type Trade, type TradeFeesData, type TraderTerms } from '../valuation/chainState.ts'
import { positionAnswer, valuationMoment } from './positionAnswer.ts'

// Markets are read from the real Diamond in the same way as by the service; the results are compared with the Diamond's
// own views.

const MARK = usd(61_500)

const INDEX = usd(61_400)

const START_MS = Date.UTC(2026, 5, 1, 12)

/** Wraps the chain of a test as an RPC client. */
function clientOf({ chain }: World): RpcClient {
  return {
    roundTrips: () => 0,
    batch: (calls) =>
      Promise.all(
        calls.map(
          async ({ method, params }) => ({ ok: true, result: await chain.request(method, [...params]) }) as const,
        ),
      ),
  }
}

async function readMarkets(world: World): Promise<ChainMarkets> {
  const client = clientOf(world)
  const moment = await readMoment(client)
  const at = { client, diamond: world.plan.diamond as Address, block: numberToHex(moment.blockNumber) }
  const listing = await readListing(at)
  const references = new Map(listing.pairs.map(({ pairIndex }) => [pairIndex, Price.of(usd(100))]))
  return assembleMarkets(listing, await readState(at, listing, moment), references, moment)
}

async function readPosition(
  world: World,
  trader: Address,
  index: number,
  openedAtBlock: number,
): Promise<LivePosition> {
  const trade = await world.read('getTrade', [trader, index])
  const [info, liquidationParams, feesData, oldBorrowing] = await Promise.all([
    world.read('getTradeInfo', [trader, index]),
    world.read('getTradeLiquidationParams', [trader, index]),
    world.read('getTradeFeesData', [trader, index]),
    world.read('getBorrowingInitialAccFees', [trade.collateralIndex, trader, index]),
  ])
  return {
    record: { id: '7' as OrderId, chain: 'arbitrum-sepolia', trader, originOrderId: '6' as OrderId },
    terms: await readTerms(world, trader, trade.pairIndex),
    state: {
      isOpen: true,
      trade: withScales<Trade>(trade),
      info,
      liquidationParams,
      feesData: withScales<TradeFeesData>(feesData),
      maxClosingSlippageP: 0,
      oldBorrowing,
      pendingUpdate: null,
      updateRefusal: null,
      openedAtBlock,
      openedAtMs: START_MS,
      updatedAtMs: START_MS,
    },
  }
}

async function readTerms(world: World, trader: Address, pairIndex: number): Promise<TraderTerms> {
  const { cumulVolPriceImpactMultiplier, fixedSpreadP } = await world.read('getUserPriceImpact', [
    trader,
    BigInt(pairIndex),
  ])
  return { ...ORDINARY_TERMS, cumulVolPriceImpactMultiplier, fixedSpreadP }
}

/** First-generation borrowing of BTC and of the group that it is in. */
async function setOldBorrowing(world: World): Promise<void> {
  const group = { feePerBlock: 30_000_000, feeExponent: 1, maxOi: 10n ** 17n }
  await world.configure('setBorrowingV1Groups', [USDC, [1], [group]])
  await world.configure('setBorrowingV1Pairs', [
    USDC,
    [BTC],
    [{ groupIndex: 1, feePerBlock: 20_000_000, feeExponent: 1 }],
  ])
  await world.configure('setBorrowingPairFeePerBlockCaps', [USDC, [BTC], [{ minP: 10_000, maxP: 80_000 }]])
}

const units = (text: string, decimals: number): bigint => scaleDecimal(text as Decimal, decimals)!

describe('a position and the Diamond', () => {
  let world: World
  let chain: ChainMarkets
  const held: { position: LivePosition; answer: Position }[] = []

  before(async () => {
    world = await createWorld('arbitrum-sepolia', () => START_MS)
    await setFunding(world, BTC, {
      skewCoefficientPerYear: 10n ** 28n,
      absoluteVelocityPerYearCap: 10_000_000,
      absoluteRatePerSecondCap: 100_000,
      thetaThresholdUsd: 5_000,
    })
    await setBorrowingRate(world, BTC, 317_097)
    await setOldBorrowing(world)
    // Less than the maximum of liquidations, so that each part of the spread counts.
    const ownTerms = { cumulVolPriceImpactMultiplier: 700, fixedSpreadP: 35, __placeholder: 0n }
    await world.configure('setUserPriceImpact', [BOB.address, BigInt(BTC), ownTerms])
    const opened = [
      { account: ALICE, terms: { tp: usd(70_000), sl: usd(58_000) } },
      { account: ALICE, terms: { leverage: 40_000, collateralAmount: usdc('2500.123456') } },
      { account: BOB, terms: { long: false, leverage: 25_000, collateralAmount: usdc(333) } },
    ]
    const trades: { trader: Address; index: number; block: number }[] = []
    for (const { account, terms } of opened) {
      const { index, outcome } = await openPosition(world, account, terms)
      trades.push({ trader: account.address as Address, index, block: Number(outcome.blockNumber) })
    }
    await world.chain.request('evm_increaseTime', [100_000])
    // A block every two seconds, for as long as the pace of the chain is measured on.
    await world.chain.request('hardhat_mine', [1_001, 2])
    chain = await readMarkets(world)
    for (const { trader, index, block } of trades) {
      const position = await readPosition(world, trader, index, block)
      const { number, timestampS } = world.chain.head()
      const moment = valuationMoment(chain, { number, timestampMs: timestampS * 1_000 })
      const prices = { mark: Price.of(MARK), index: Price.of(INDEX), updatedAtMs: START_MS }
      const answer = positionAnswer(position, chain, prices, moment)
      held.push({ position, answer: answer! })
    }
  })
  after(() => world.chain.stop())

  it('pending fees are those of getTradePendingHoldingFeesCollateral at the mark', async () => {
    for (const { position, answer } of held) {
      const { user, index } = position.state.trade
      const fees = await world.read('getTradePendingHoldingFeesCollateral', [user, index, MARK])
      assert.equal(answer.fundingFee, formatDecimal(fees.fundingFeeCollateral, 6))
      const { borrowingFeeCollateral, borrowingFeeCollateral_old: oldFeeCollateral } = fees
      assert.equal(answer.borrowingFee, formatDecimal(borrowingFeeCollateral + oldFeeCollateral, 6))
      assert.notEqual(answer.fundingFee, '0')
      assert.ok(borrowingFeeCollateral > 0n)
      assert.ok(oldFeeCollateral > 0n)
    }
    const [long, , short] = held.map(({ answer }) => answer.fundingFee)
    assert.notEqual(long!.startsWith('-'), short!.startsWith('-'), 'one side pays the other')
  })

  it('the liquidation price is that of getTradeLiquidationPrice at the index', async () => {
    for (const { position, answer } of held) {
      const { trade, liquidationParams } = position.state
      const onChain = await world.read('getTradeLiquidationPrice', [
        {
          collateralIndex: trade.collateralIndex,
          trader: trade.user,
          pairIndex: trade.pairIndex,
          index: trade.index,
          openPrice: trade.openPrice,
          long: trade.long,
          collateral: trade.collateralAmount,
          leverage: BigInt(trade.leverage),
          additionalFeeCollateral: 0n,
          liquidationParams,
          currentPairPrice: INDEX,
          isCounterTrade: trade.isCounterTrade,
          partialCloseMultiplier: 10n ** 18n,
          beforeOpened: false,
        },
      ])
      assert.equal(answer.liquidationPrice, formatDecimal(onChain, 10))
    }
    assert.deepEqual(
      held.map(({ position }) => position.terms?.fixedSpreadP),
      [0, 0, 35],
      'also of a trader with a spread of its own',
    )
  })

  it('unrealised is the price move at the market price, less pending fees, plus what is realised', async () => {
    for (const { position, answer } of held) {
      const { trade } = position.state
      const skewP = await world.read('getTradeSkewPriceImpactP', [USDC, BTC, true, 0n, true])
      assert.notEqual(skewP, 0n)
      const marketPrice = MARK + (MARK * skewP) / 10n ** 12n
      const [, , realized] = await world.read('getTradeRealizedPnlCollateral', [trade.user, trade.index])
      const move = trade.long ? marketPrice - trade.openPrice : trade.openPrice - marketPrice
      const size = (trade.collateralAmount * BigInt(trade.leverage)) / 1_000n
      const expected = (size * move) / trade.openPrice - feesOf(answer) + realized
      const shown = units(answer.unrealizedPnl, 6)
      assert.ok(
        shown - expected <= 1n && expected - shown <= 1n,
        `${shown} and ${expected} differ by more than rounding`,
      )
      assert.equal(answer.unrealizedPnlPercent, formatDecimal((shown * 10n ** 12n) / trade.collateralAmount, 10))
    }
  })

  it('what borrowing costs in an hour is the rate of the market', async () => {
    const { blocksPerHour } = chain
    assert.equal(blocksPerHour, 1_800)
    const { borrowingRateHourly } = fundingRecord(chain, BTC, Price.of(MARK))
    // The heavier side, whose open interest decides the rate of the first generation.
    const { user, index, openPrice, collateralAmount, leverage } = held[1]!.position.state.trade
    const start = await world.read('getTradePendingHoldingFeesCollateral', [user, index, MARK])
    const startS = world.chain.head().timestampS
    const snapshot = await world.snapshot()
    await world.chain.request('hardhat_mine', [blocksPerHour - 1])
    await world.chain.request('evm_setNextBlockTimestamp', [startS + 3_600])
    await world.chain.request('evm_mine', [])
    const end = await world.read('getTradePendingHoldingFeesCollateral', [user, index, MARK])
    await world.restore(snapshot)
    const size = (collateralAmount * BigInt(leverage)) / 1_000n
    const ratePercent = (fee: bigint): number => (Number(fee) / Number(size)) * 100
    // The second generation charges on the value at the mark, the first on the value at the open.
    const second = end.borrowingFeeCollateral - start.borrowingFeeCollateral
    const first = end.borrowingFeeCollateral_old - start.borrowingFeeCollateral_old
    const charged = ratePercent(first) + (ratePercent(second) * Number(openPrice)) / Number(MARK)
    assert.ok(first > 0n && second > 0n)
    assert.ok(Math.abs(charged / Number(borrowingRateHourly) - 1) < 1e-6, `${charged} and ${borrowingRateHourly}`)
  })

  it('the rest is what the chain stores', () => {
    const [first] = held
    const { trade, openedAtBlock } = first!.position.state
    const { answer } = first!
    assert.deepEqual(answer, {
      // The other fields are compared above.
      ...answer,
      id: '7',
      trader: ALICE.address,
      market: 'BTC/USD',
      pairIndex: BTC,
      side: 'long',
      size: formatDecimal(trade.positionSizeToken, 18),
      collateral: '100',
      collateralSymbol: 'USDC',
      leverage: '10',
      entryPrice: formatDecimal(trade.openPrice, 10),
      markPrice: '61500',
      sl: '58000',
      tp: '70000',
      openedAtBlock,
      marginMode: 'isolated',
    })
  })
})

function feesOf({ fundingFee, borrowingFee }: Position): bigint {
  return units(fundingFee, 6) + units(borrowingFee, 6)
}
