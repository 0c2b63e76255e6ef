import type { LivePosition, PositionState } from './positionModel.ts'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ContractsVersion, PositionSchema, type Address, type OrderId } from '@bezel/protocol'
import { Value } from '@sinclair/typebox/value'
import { chainMarkets, usd } from '../../market/testing/fixtures.ts'
import { NO_OLD_BORROWING } from '../valuation/chainState.ts'
import { MOMENT, POSITION, tokens } from '../valuation/testing/fixtures.ts'
import { positionAnswer, valuationMoment } from './positionAnswer.ts'

const { trade, info, liquidationParams, feesData } = POSITION

const PRICES = { mark: usd(60_000), index: usd(60_000), updatedAtMs: 990_000 }

const BORROWING = { borrowingParams: { borrowingRatePerSecondP: 31_710 } }

function live(changes: Partial<PositionState> = {}): LivePosition {
  const state = {
    isOpen: true,
    trade,
    info,
    liquidationParams,
    feesData,
    maxClosingSlippageP: 0,
    pendingUpdate: null,
    oldBorrowing: null,
    updateRefusal: null,
    openedAtBlock: 90,
    openedAtMs: 1,
    updatedAtMs: 1,
  }
  const trader = `0x${'ab'.repeat(20)}` as Address
  const record = { id: '12' as OrderId, chain: 'base', trader, originOrderId: '11' as OrderId } as const
  return { record, state: { ...state, ...changes } }
}

describe('positionAnswer', () => {
  it('has the shape of the interface, canonical decimals and nothing null', () => {
    const answer = positionAnswer(live(), chainMarkets(), PRICES, MOMENT)
    assert.deepEqual([...Value.Errors(PositionSchema, answer)], [])
    assert.equal(answer?.unrealizedPnl, '-0.949961')
    assert.equal(answer?.unrealizedPnlPercent, '-0.949961')
    assert.deepEqual([answer?.sl, answer?.tp, answer?.fundingFee], ['0', '0', '0'])
    assert.equal(answer?.size, '0.016663333999866693')
  })

  it('shows the mark without skew, and values with it', () => {
    const skewed = { oiLongToken: tokens(20), skewDepth: tokens(1_000) }
    const answer = positionAnswer(live(), chainMarkets(skewed), PRICES, MOMENT)
    assert.equal(answer?.markPrice, '60000')
    // A price of 60006 instead of 60000 is 0.01 % of 1000 USD.
    assert.equal(answer?.unrealizedPnl, '-0.849981')
  })

  it('counts size in base units whose number times the price is USD, whatever the collateral costs', () => {
    const inWeth = { trade: { ...trade, collateralIndex: 2 }, info: { ...info, collateralPriceUsd: 250_000_000_000 } }
    const answer = positionAnswer(live(inWeth), chainMarkets(), PRICES, MOMENT)
    assert.equal(answer?.collateralSymbol, 'WETH')
    assert.equal(answer?.size, '41.6583349996667325')
  })

  it('gives a trade from before v10, which has no token size, the size it was opened with', () => {
    const old = {
      trade: { ...trade, positionSizeToken: tokens(0) },
      info: { ...info, contractsVersion: ContractsVersion.V9_2 },
    }
    assert.equal(positionAnswer(live(old), chainMarkets(), PRICES, MOMENT)?.size, '0.016663333999866693')
  })

  it('values a pair that is closed to new trades', () => {
    const chain = { ...chainMarkets(), markets: new Map() }
    assert.equal(positionAnswer(live(), chain, PRICES, MOMENT)?.market, 'BTC/USD')
  })

  it('gives nothing while the pair or the collateral is not known', () => {
    const chain = chainMarkets()
    assert.equal(positionAnswer(live(), { ...chain, pairs: new Map() }, PRICES, MOMENT), undefined)
    const other = live({ trade: { ...trade, collateralIndex: 9 } })
    assert.equal(positionAnswer(other, chain, PRICES, MOMENT), undefined)
  })

  it('has borrowing of both generations in its fee, its liquidation price and its PnL', () => {
    const data = { ...NO_OLD_BORROWING.data, accFeeLong: 10n ** 10n }
    const chain = chainMarkets({ ...BORROWING, oldBorrowing: { ...NO_OLD_BORROWING, data } })
    const started = { accPairFee: 4n * 10n ** 9n, accGroupFee: 0n, block: 90 }
    const later = { ...MOMENT, timestampS: 1_000 + 86_400 }
    const shown = (oldBorrowing: PositionState['oldBorrowing']) =>
      positionAnswer(live({ oldBorrowing }), chain, PRICES, later)!
    const [without, withOld] = [shown(null), shown(started)]
    // 0.6 % of 1000 USDC, besides 2.739196 of the second generation.
    assert.deepEqual([without.borrowingFee, withOld.borrowingFee], ['2.739196', '8.739196'])
    assert.deepEqual([without.unrealizedPnl, withOld.unrealizedPnl], ['-3.689157', '-9.689157'])
    assert.ok(Number(withOld.liquidationPrice) > Number(without.liquidationPrice) + 300)
  })

  it('never charges less than nothing for borrowing when the position is newer than the pair that was read', () => {
    const initialAccBorrowingFeeP = 31_710n * 10n * usd(60_010)
    const newer = { feesData: { ...feesData, initialAccBorrowingFeeP }, updatedAtMs: 1_010_000 }
    assert.equal(
      positionAnswer(live(newer), chainMarkets(BORROWING), PRICES, { ...MOMENT, timestampS: 1_010 })?.borrowingFee,
      '0',
    )
  })
})

describe('valuation moment', () => {
  it('is the last followed block, but never before the markets were read', () => {
    const chain = chainMarkets()
    const read = { timestampS: 1_000, blockNumber: 100 }
    assert.deepEqual(valuationMoment(chain, { number: 160, timestampMs: 1_060_999 }), {
      timestampS: 1_060,
      blockNumber: 160,
    })
    assert.deepEqual(valuationMoment(chain, { number: 99, timestampMs: 990_000 }), read)
    assert.deepEqual(valuationMoment(chain, undefined), read)
  })

  it('lets fees only grow', () => {
    const chain = chainMarkets(BORROWING)
    const feeAt = (timestampMs: number) =>
      positionAnswer(live(), chain, PRICES, valuationMoment(chain, { number: 100, timestampMs }))?.borrowingFee
    assert.deepEqual([feeAt(0), feeAt(87_400_000)], ['0', '2.739196'])
  })
})
