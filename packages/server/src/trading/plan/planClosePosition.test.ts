import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  CollateralAmount,
  ContractsVersion,
  formatDecimal,
  scaleDecimal,
  TokenSize,
  type ClosePositionRequest,
} from '@bezel/protocol'
import fc from 'fast-check'
import { BTC } from '../../market/testing/fixtures.ts'
import { minCollateral } from '../valuation/fees.ts'
import { LISTING, USDC, usdc } from '../valuation/testing/fixtures.ts'
import { positionSize } from './closing.ts'
import { planClosePosition } from './planClosePosition.ts'
import { contextOf, decoded, issuePaths, MARK, positionOf, refusalOf, slipping } from './testing/fixtures.ts'

const WHOLE = '0.016663333999866693'
const closed = (body: ClosePositionRequest, position = positionOf()) => planClosePosition(position, body, contextOf())
const FULL = [{ name: 'closeTradeMarket', args: [4, MARK] }]

describe('a close', () => {
  it('without a size is of everything', () => {
    const { calls, request, touches, closes, ...rest } = closed({})
    assert.deepEqual(calls.map(decoded), FULL)
    assert.deepEqual(request, {
      kind: 'close',
      market: 'BTC/USD',
      pairIndex: 0,
      side: 'short',
      type: 'market',
      size: WHOLE,
      price: null,
      leverage: '10',
      collateral: 'USDC',
      collateralIndex: 3,
      sl: null,
      tp: null,
      reduceOnly: true,
      slippage: '1',
      clientId: null,
      legs: [{ positionId: '7', tradeIndex: 4, size: WHOLE }],
    })
    assert.deepEqual(rest, {
      kind: 'open',
      action: { market: 'BTC/USD', leverage: null, spendUsd: 0n },
      validity: 'market',
      takes: null,
      warnings: [],
    })
    assert.deepEqual(touches, [positionOf()])
    assert.deepEqual(
      closes!.map(({ part, expectedPrice }) => [part, expectedPrice]),
      [[null, MARK]],
    )
    assert.equal(closed({}, positionOf({ long: false })).request.side, 'long')
  })

  it('of a part takes that part of the collateral, rounded down', () => {
    const { calls, request, closes } = closed({ size: '0.005' })
    assert.deepEqual(calls.map(decoded), [{ name: 'decreasePositionSize', args: [4, 30_006_000n, 0, MARK] }])
    assert.equal(closes![0]!.part, 30_006_000n)
    assert.equal(request.size, '0.005')
    assert.deepEqual(request.legs, [{ positionId: '7', tradeIndex: 4, size: '0.005' }])
  })

  it("takes the position's own size, whatever its decimals", () => {
    assert.deepEqual(closed({ size: WHOLE }).calls.map(decoded), FULL)
  })

  it('is of everything when it reaches what an order can say of it', () => {
    const { calls, request } = closed({ size: '0.01666' })
    assert.deepEqual(calls.map(decoded), FULL)
    assert.deepEqual([request.size, request.legs[0]?.size], ['0.01666', WHOLE])
    assert.equal(decoded(closed({ size: '0.01653' }).calls[0]!).name, 'decreasePositionSize')
  })

  it('is of everything when the rest would have less than the Diamond keeps', () => {
    // Of 100 USDC, 0.75 are 0.000124975 BTC.
    assert.equal(decoded(closed({ size: '0.01653' }).calls[0]!).name, 'decreasePositionSize')
    assert.deepEqual(closed({ size: '0.01654' }).calls.map(decoded), FULL)
    assert.equal(closed({ size: '0.01654' }).request.size, '0.01654')
  })

  it('with a slippage sets it first', () => {
    const slippage = { name: 'updateMaxClosingSlippageP', args: [4, 2_500] }
    const full = closed({ slippage: '2.5' })
    assert.deepEqual(full.calls.map(decoded), [slippage, ...FULL])
    assert.equal(full.request.slippage, '2.5')
    const part = closed({ slippage: '2.5', size: '0.005' }).calls.map(decoded)
    assert.deepEqual(
      part.map(({ name }) => name),
      ['updateMaxClosingSlippageP', 'decreasePositionSize'],
    )
  })

  it("sets the slippage that it says wherever the position's is another", () => {
    const setBy = (left: number, slippage?: string) => {
      const { calls, request } = closed(slippage === undefined ? {} : { slippage }, slipping(positionOf(), left))
      assert.equal(request.slippage, slippage ?? '1')
      assert.deepEqual(calls.slice(-1).map(decoded), FULL)
      return calls.slice(0, -1).map(decoded)
    }
    const set = (slippageP: number) => [{ name: 'updateMaxClosingSlippageP', args: [4, slippageP] }]
    // Slippages that an earlier close left, wide or tight.
    assert.deepEqual(setBy(20_000), set(1_000))
    assert.deepEqual(setBy(1), set(1_000))
    assert.deepEqual(setBy(20_000, '1'), set(1_000))
    assert.deepEqual(setBy(1_000, '20'), set(20_000))
    // The slippage is already set; an unset one is 1 %.
    for (const held of [setBy(0), setBy(1_000), setBy(0, '1'), setBy(20_000, '20')]) assert.deepEqual(held, [])
  })

  it('works in a pair that takes nothing new', () => {
    const { chain, ...rest } = contextOf()
    const context = { ...rest, chain: { ...chain, markets: new Map() } }
    assert.deepEqual(planClosePosition(positionOf(), {}, context).calls.map(decoded), FULL)
    const other = { ...BTC, pairIndex: 99 }
    const renamed = { ...rest, chain: { ...chain, markets: new Map([[BTC.symbol, other]]) } }
    assert.equal(planClosePosition(positionOf(), { size: '0.001' }, renamed).request.pairIndex, 0)
  })

  it('sizes a position from before v10 by its notional at its price', () => {
    const position = positionOf({ positionSizeToken: TokenSize.zero })
    const old = {
      ...position,
      state: { ...position.state, info: { ...position.state.info, contractsVersion: ContractsVersion.V9_2 } },
    }
    assert.equal(closed({}, old).request.size, formatDecimal((1_000n * 10n ** 28n) / 600_120_000_000_000n, 18))
  })
})

describe('a close is refused', () => {
  it('for more than there is', () => {
    assert.deepEqual(
      refusalOf(() => closed({ size: '0.01667' }), 'UNSUPPORTED'),
      {
        size: '0.01667',
        positionSize: WHOLE,
      },
    )
  })

  it('for decimals that the market does not take', () => {
    const details = refusalOf(() => closed({ size: '0.016663' }), 'PRECISION_ERROR')
    assert.deepEqual(details, { field: 'size', value: '0.016663', maxDecimals: 5 })
    refusalOf(() => closed({ slippage: '1.0001' }), 'PRECISION_ERROR')
  })

  it('for numbers out of bounds', () => {
    assert.deepEqual(
      issuePaths(() => closed({ size: '0', slippage: '70' })),
      ['body.size', 'body.slippage'],
    )
  })

  it('while the market is closed', () => {
    refusalOf(() => planClosePosition(positionOf(), {}, contextOf({ isOpen: () => false })), 'MARKET_CLOSED')
  })
})

describe('any close by size', () => {
  it('closes everything, or no more than it says and leaves what the Diamond keeps', () => {
    const least = minCollateral(1n, LISTING, USDC)
    fc.assert(
      fc.property(
        fc.bigInt({ min: 1n, max: usdc(1_000_000) }),
        fc.bigInt({ min: 10n ** 13n, max: 10n ** 21n }),
        fc.nat({ max: 100_000 }),
        (collateralAmount, positionSizeToken, share) => {
          const position = positionOf({
            collateralAmount: CollateralAmount.of(collateralAmount),
            positionSizeToken: TokenSize.of(positionSizeToken),
          })
          const whole = positionSize(position, contextOf())
          const units = ((whole / 10n ** 13n) * BigInt(share)) / 100_000n
          fc.pre(units > 0n)
          const size = formatDecimal(units, 5)
          const [call] = closed({ size }, position).calls.map(decoded)
          if (call?.name === 'closeTradeMarket') return
          const part = call?.args[1] as bigint
          assert.ok(collateralAmount - part >= least)
          const exact = collateralAmount * scaleDecimal(size, 18)!
          assert.ok(part > 0n && (part === 1n || part * whole <= exact))
          assert.ok((part + 1n) * whole > exact)
        },
      ),
    )
  })
})
