import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CreateOrderRequest } from '@bezel/protocol'
import { normalizeOrder } from './normalizeOrder.ts'
import { BODY, contextOf, issuePaths, refusalOf } from './testing/fixtures.ts'

const normalized = (body: Partial<CreateOrderRequest>) => normalizeOrder({ ...BODY, ...body }, contextOf())

describe('a normalized order', () => {
  it('has every default filled in', () => {
    assert.deepEqual(normalized({}), {
      kind: 'open',
      market: 'BTC/USD',
      pairIndex: 0,
      side: 'long',
      type: 'market',
      size: '0.01',
      price: null,
      leverage: '10',
      collateral: 'USDC',
      collateralIndex: 3,
      sl: null,
      tp: null,
      reduceOnly: false,
      slippage: '1',
      clientId: null,
      legs: [],
    })
  })

  it('is the same for two ways to write it', () => {
    const plain = normalized({ price: '60000', collateral: 'USDC', slippage: '1', reduceOnly: false })
    const other = normalized({
      size: '0.010',
      leverage: '10.0',
      price: '60000.00',
      sl: '0',
      tp: '0.0',
      slippage: '1.0',
    })
    assert.deepEqual(other, plain)
  })

  it('keeps what was given', () => {
    const { price, sl, tp, slippage, clientId, collateral, collateralIndex } = normalized({
      type: 'stop',
      price: '61000.5',
      sl: '60000',
      tp: '70000',
      slippage: '0.5',
      clientId: 'mine',
      collateral: 'WETH',
    })
    assert.deepEqual([price, sl, tp, slippage, clientId], ['61000.5', '60000', '70000', '0.5', 'mine'])
    assert.deepEqual([collateral, collateralIndex], ['WETH', 2])
  })

  it('is a close when it is reduce-only, whatever its collateral', () => {
    assert.equal(normalized({ reduceOnly: true, collateral: 'OLD' }).kind, 'close')
  })
})

describe('an order body is refused', () => {
  it('with every number that is out of bounds named', () => {
    const all = { size: '0', price: '-1', leverage: '0', sl: '-1', tp: '-0.5', slippage: '0' }
    assert.deepEqual(
      issuePaths(() => normalized(all)),
      ['body.size', 'body.price', 'body.leverage', 'body.sl', 'body.tp', 'body.slippage'],
    )
  })

  for (const [field, value] of [
    ['size', '-0.01'],
    ['price', '0'],
    ['price', '1844674407.3709551616'],
    ['sl', '1844674407.3709551616'],
    ['leverage', '16777.216'],
    ['leverage', '-1'],
    ['slippage', '0.0009'],
    ['slippage', '65.5351'],
    ['slippage', '66'],
    ['size', '1e5'],
  ] as const) {
    it(`for ${field} ${value}`, () => {
      assert.deepEqual(
        issuePaths(() => normalized({ [field]: value })),
        [`body.${field}`],
      )
    })
  }

  it('when a limit or stop has no price, together with what else is wrong', () => {
    for (const type of ['limit', 'stop'] as const) {
      assert.deepEqual(
        issuePaths(() => normalized({ type, size: '0' })),
        ['body.price', 'body.size'],
      )
    }
  })

  for (const [field, value, maxDecimals] of [
    ['price', '60000.001', 2],
    ['sl', '50000.123', 2],
    ['tp', '70000.123', 2],
    ['size', '0.000001', 5],
    ['leverage', '10.0001', 3],
    ['slippage', '0.0015', 3],
  ] as const) {
    it(`for the decimals of ${field} ${value}`, () => {
      const details = refusalOf(() => normalized({ [field]: value }), 'PRECISION_ERROR')
      assert.deepEqual(details, { field, value, maxDecimals })
    })
  }

  it('at the bounds not', () => {
    assert.equal(normalized({ slippage: '0.001' }).slippage, '0.001')
    assert.equal(normalized({ slippage: '65.535' }).slippage, '65.535')
    assert.equal(normalized({ price: '1844674407.37' }).price, '1844674407.37')
    assert.equal(normalized({ leverage: '16777.215' }).leverage, '16777.215')
  })

  it('for a market or collateral that is not listed', () => {
    assert.deepEqual(
      refusalOf(() => normalized({ market: 'NO/USD' }), 'MARKET_NOT_FOUND'),
      { market: 'NO/USD', nearest: null, nearestPath: null },
    )
    assert.deepEqual(
      refusalOf(() => normalized({ collateral: 'DAI' }), 'COLLATERAL_NOT_SUPPORTED'),
      {
        collateral: 'DAI',
        supported: ['WETH', 'USDC'],
      },
    )
  })

  it('when it is reduce-only and rests, or wants sl or tp', () => {
    refusalOf(() => normalized({ reduceOnly: true, type: 'limit', price: '1' }), 'UNSUPPORTED')
    refusalOf(() => normalized({ reduceOnly: true, type: 'stop', price: '1' }), 'UNSUPPORTED')
    refusalOf(() => normalized({ reduceOnly: true, sl: '1' }), 'UNSUPPORTED')
    refusalOf(() => normalized({ reduceOnly: true, tp: '1' }), 'UNSUPPORTED')
  })
})

describe('a collateral', () => {
  it("is the chain's default when none is named", () => {
    const { chain, ...rest } = contextOf()
    const context = { ...rest, chain: { ...chain, defaultCollateralIndex: 2 } }
    assert.equal(normalizeOrder(BODY, context).collateral, 'WETH')
  })

  it('is the active one of two with the same symbol', () => {
    const { chain, ...rest } = contextOf()
    const [weth, usdc] = chain.collaterals
    const collaterals = [{ ...usdc!, index: 1, isActive: false }, weth!, usdc!]
    const request = normalizeOrder({ ...BODY, collateral: 'USDC' }, { ...rest, chain: { ...chain, collaterals } })
    assert.equal(request.collateralIndex, 3)
  })
})
