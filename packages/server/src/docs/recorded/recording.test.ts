import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  parseDecimal,
  scaleDecimal,
  type Decimal,
  type FillHistoryEntry,
  type MarketRecord,
  type Order,
  type OrderBook,
  type OrderPreview,
  type Position,
  type PreparedOrder,
} from '@bezel/protocol'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { ROUTES } from '../../http/routes/registerRoutes.ts'
import { createAnswerChecker } from '../openapi/answerChecker.ts'
import { referenceDocument } from '../openapi/createDocument.ts'
import { readRecording } from './recording.ts'

const PLACES = 24

const document = referenceDocument()
const { operations } = readRecording()

/** Returns the answers of an operation. */
function answersOf<Answer>(operationId: string): readonly Answer[] {
  return operations[operationId]!.filter(({ status }) => status < 300).map(({ answer }) => answer as Answer)
}

/** Returns a decimal as an integer of `PLACES` decimals, so that sums and comparisons are exact. */
function exact(text: string): bigint {
  return scaleDecimal(parseDecimal(text) as Decimal, PLACES)!
}

/** Returns the product of decimals, truncated to `PLACES` decimals. */
function product(...factors: readonly string[]): bigint {
  return factors.map(exact).reduce((sum, factor) => (sum * factor) / 10n ** BigInt(PLACES))
}

function assertNear(found: bigint, expected: bigint, what: string): void {
  const difference = found > expected ? found - expected : expected - found
  const size = expected < 0n ? -expected : expected
  assert.ok(difference * 100_000n <= size, `${what}: ${found} is not near ${expected}`)
}

/** Lists every object in a value that has a field. */
function objectsWith(value: unknown, field: string): Readonly<Record<string, unknown>>[] {
  if (typeof value !== 'object' || value === null) return []
  const own = field in value ? [value as Record<string, unknown>] : []
  return [...own, ...Object.values(value).flatMap((inner) => objectsWith(inner, field))]
}

describe('the recording', () => {
  it('has every operation, and answers as documented', () => {
    const checker = createAnswerChecker(document)
    for (const { operationId } of ROUTES) {
      const calls = operations[operationId] ?? []
      assert.ok(calls.length > 0, `${operationId} is not recorded: npm run reference -- --record`)
      for (const { status, answer } of calls) checker.assert(operationId, status, answer)
    }
  })

  it('has bodies as documented', () => {
    const ajv = new Ajv2020({ allErrors: true, strictTypes: false })
    ajv.addKeyword('components')
    for (const operation of Object.values(document.paths).flatMap((path) => Object.values(path))) {
      const schema = operation.requestBody?.content['application/json']?.schema
      if (schema === undefined) continue
      const validate = ajv.compile({ ...schema, components: document.components })
      for (const { body } of operations[operation.operationId]!) {
        assert.ok(body === undefined || validate(body), `${operation.operationId}: ${ajv.errorsText(validate.errors)}`)
      }
    }
  })
})

describe('the recorded market', () => {
  const [market] = answersOf<MarketRecord>('getMarket') as [MarketRecord]

  it('has fees and spread as fractions, far below one', () => {
    const { fees, spreadRate } = market
    for (const rate of [fees.openFeeRate, fees.closeFeeRate, spreadRate]) {
      assert.ok(exact(rate) > 0n && exact(rate) < exact('0.01'), rate)
    }
    assert.equal(product(market.minCollateralUsd, market.minLeverage), exact(market.minPositionUsd))
    assert.equal(product(fees.minPositionSizeUsd, fees.openFeeRate, '5'), exact(market.minCollateralUsd))
  })

  it('has a book whose best ask is above the mark, and the mark above the best bid', () => {
    for (const { bids, asks, markPrice } of answersOf<OrderBook>('getOrderBook')) {
      const prices = [...bids.toReversed(), { price: markPrice }, ...asks].map(({ price }) => exact(price))
      for (const [at, price] of prices.entries()) assert.ok(at === 0 || prices[at - 1]! < price, `level ${at}`)
      assert.equal(exact(bids[0]!.sizeUsd) + exact(bids[1]!.sizeUsd), exact(bids[1]!.cumulativeUsd))
    }
  })

  it('has candles with the low at the bottom and the high at the top', () => {
    for (const candle of answersOf('getCandles').flatMap((answer) => objectsWith(answer, 'open'))) {
      const [open, high, low, close] = ['open', 'high', 'low', 'close'].map((name) => exact(String(candle[name])))
      assert.ok(low! <= open! && low! <= close! && high! >= open! && high! >= close!)
    }
  })

  it('charges the fee rate on the notional', () => {
    const orders = answersOf<Order>('getOrder').filter(({ fill }) => fill !== null)
    assert.ok(orders.length >= 2)
    for (const { fill, reduceOnly, leverage } of orders) {
      const rate = reduceOnly ? market.fees.closeFeeRate : market.fees.openFeeRate
      assertNear(exact(fill!.feeCollateral), product(fill!.collateral, leverage, rate), 'fee')
      // A smaller one would be charged for the smallest notional.
      assert.ok(product(fill!.collateral, leverage) > exact(market.fees.minPositionSizeUsd))
    }
  })
})

describe('the recorded account', () => {
  it('has stops and liquidation on the right side of the price', () => {
    const positions = Object.values(operations).flatMap((calls) => objectsWith(calls, 'liquidationPrice'))
    assert.ok(positions.length > 4)
    for (const position of positions) {
      // A close has the side opposite to its position's.
      const isClose = position.reduceOnly === true
      if (isClose || position.side === undefined || position.liquidationPrice === null) continue
      const { side, markPrice, oraclePrice } = position
      const mark = exact(String(markPrice ?? oraclePrice))
      const sign = side === 'long' ? 1n : -1n
      assert.ok((mark - exact(String(position.liquidationPrice))) * sign > 0n, JSON.stringify(position))
      for (const [stop, direction] of [
        [position.sl, sign],
        [position.tp, -sign],
      ] as const) {
        if (stop === null || stop === '0' || stop === undefined) continue
        assert.ok((mark - exact(String(stop))) * direction > 0n, JSON.stringify(position))
      }
    }
  })

  it('values positions at size x price', () => {
    for (const { data } of answersOf<{ data: readonly Position[] }>('listPositions')) {
      for (const { collateral, leverage, size, entryPrice, unrealizedPnl, unrealizedPnlPercent } of data) {
        assertNear(product(size, entryPrice), product(collateral, leverage), 'notional')
        assertNear(product(unrealizedPnlPercent, collateral), product(unrealizedPnl, '100'), 'percent')
      }
    }
  })

  it('has entries whose netPnl is what is left of the profit', () => {
    const entries = answersOf<{ data: readonly FillHistoryEntry[] }>('listFills').flatMap(({ data }) => data)
    assert.ok(entries.some(({ pnl }) => pnl !== '0') && entries.some(({ deposit }) => deposit !== '0'))
    for (const { pnl, feeCollateral, fundingFee, borrowingFee, forfeited, netPnl } of entries) {
      const costs = [feeCollateral!, fundingFee!, borrowingFee!, forfeited!].map(exact)
      assert.equal(
        costs.reduce((left, cost) => left - cost, exact(pnl)),
        exact(netPnl!),
      )
    }
  })

  it('fills what was promised, and warns of what it changed', () => {
    const [opened] = answersOf<Order>('getOrder')
    assertNear(exact(opened!.fill!.size), exact(opened!.size), 'size')
    const [first] = answersOf<PreparedOrder>('updatePosition')
    assert.equal(first!.warnings?.[0]?.code, 'sl_clamped')
  })

  it('names one moment after the other', () => {
    for (const { createdAt, updatedAt } of objectsWith(Object.values(operations), 'updatedAt')) {
      assert.ok(createdAt === undefined || Number(createdAt) <= Number(updatedAt))
    }
  })
})

describe('the recorded previews', () => {
  const [{ fees }] = answersOf<MarketRecord>('getMarket') as [MarketRecord]
  const previews = [...answersOf<OrderPreview>('previewOrder'), ...answersOf<OrderPreview>('previewClose')]

  it('have a price that is the price of the oracle and its rates', () => {
    assert.ok(previews.length >= 2)
    for (const { side, oraclePrice, price, priceImpactRate, ...parts } of previews) {
      const { spreadRate, volumeImpactRate, skewImpactRate } = parts
      const sum = [spreadRate, volumeImpactRate, skewImpactRate].map(exact).reduce((total, rate) => total + rate)
      assert.equal(sum, exact(priceImpactRate))
      const moved = product(oraclePrice, priceImpactRate)
      assertNear(exact(price), exact(oraclePrice) + (side === 'long' ? moved : -moved), 'price')
    }
  })

  it('charge the fee rate, and count what is opened and nothing else', () => {
    for (const { reduceOnly, notionalUsd, feeRate, feeCollateral, spend } of previews) {
      const isSmall = exact(notionalUsd) < exact(fees.minPositionSizeUsd)
      assertNear(exact(feeCollateral), product(isSmall ? fees.minPositionSizeUsd : notionalUsd, feeRate), 'fee')
      if (spend === null) continue
      assert.equal(exact(spend.afterUsd) - exact(spend.spentUsd), reduceOnly ? 0n : exact(notionalUsd))
    }
  })
})
