import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decimal } from '@bezel/sdk'
import { SAMPLE_MARKET } from '@bezel/testkit/sampleMarket.ts'
import fc from 'fast-check'
import { createMemoryStore } from '../data/storage.ts'
import { changeDraft, EMPTY_DRAFT, nextDraft, parseDraft, readDraft, writeDraft, type TicketDraft } from './draft.ts'
import { readAmount, readLeverage, readPrice, readSlippage } from './fieldRules.ts'
import { priceOfPercent, restated, stopValue } from './stops.ts'
import { collateralOf, ticketModel, type TicketFacts } from './ticketModel.ts'

const FACTS: TicketFacts = {
  market: SAMPLE_MARKET,
  mark: '60000',
  book: null,
  terms: null,
  feeTierMultiplier: null,
  balance: '5000',
  reducible: null,
  closed: null,
  stale: null,
}

const model = (draft: Partial<TicketDraft> = {}, facts: Partial<TicketFacts> = {}) =>
  ticketModel({ ...EMPTY_DRAFT, ...draft }, { ...FACTS, ...facts })

describe('a ticket', () => {
  it('is an order once a size is typed, and says what is to be typed before', () => {
    assert.deepEqual([model().request, model().blocker, model().errors], [null, 'Enter a size.', {}])
    const { request, blocker, estimate, collateralAmount } = model({ amount: '0.1' })
    assert.equal(blocker, null)
    assert.deepEqual(request, {
      market: 'BTC/USD',
      side: 'long',
      type: 'market',
      size: '0.1',
      leverage: '10',
      slippage: '1',
      collateral: 'USDC',
    })
    assert.deepEqual([collateralAmount, estimate?.price], ['600.12', '60012'])
  })

  it('links size and collateral through the leverage, whichever was typed', () => {
    const bySize = model({ amount: '0.1' })
    const byCollateral = model({ amountBy: 'collateral', amount: '600.12' })
    assert.deepEqual([byCollateral.size, byCollateral.request], ['0.1', bySize.request])
    assert.equal(model({ amount: '0.1', leverage: '20' }).collateralAmount, '300.06')
    assert.equal(model({ amountBy: 'collateral', amount: '600.12', leverage: '20' }).size, '0.2')
    assert.equal(model({ amountBy: 'collateral', amount: '600.12', collateral: 'WETH' }).request?.collateral, 'WETH')
  })

  it('puts each error beside its field, with the bound', () => {
    const cases: readonly (readonly [Partial<TicketDraft>, string, RegExp])[] = [
      [{ amount: '0.000001' }, 'size', /At most 5 decimals/],
      [{ amount: '0' }, 'size', /above 0/],
      [{ amount: '0.00001' }, 'size', /At least 0\.00063 at this leverage/],
      [{ amountBy: 'collateral', amount: '1' }, 'collateral', /At least 3[.,]7\d\sUSDC/u],
      [{ amountBy: 'collateral', amount: '0.000001' }, 'collateral', /At least/],
      [{ amountBy: 'collateral', amount: '0.0000001' }, 'collateral', /At most 6 decimals/],
      [{ amount: '0.1', leverage: '1' }, 'leverage', /1\.1 to 200/],
      [{ amount: '0.1', leverage: '200.001' }, 'leverage', /1\.1 to 200/],
      [{ amount: '0.1', leverage: '1.0001' }, 'leverage', /At most 3 decimals/],
      [{ amount: '0.1', slippage: '66' }, 'slippage', /0\.001 to 65\.535/],
      [{ amount: '0.1', type: 'limit', price: '50000.001' }, 'price', /At most 2 decimals/],
      [{ amount: '0.1', type: 'stop', price: '50000' }, 'price', /has passed it\. A stop that buys must be above/],
      [{ amount: '0.1', type: 'stop', side: 'short', price: '70000' }, 'price', /A stop that sells must be below/],
      [{ amount: '0.1', tp: { by: 'price', value: '59000' } }, 'tp', /take profit of a long must be above/],
      [{ amount: '0.1', sl: { by: 'price', value: '60000' } }, 'sl', /stop loss of a long must be below/],
      [{ amount: '0.1', side: 'short', sl: { by: 'price', value: '59000' } }, 'sl', /of a short must be above/],
      [{ amount: '0.1', leverage: '1.1', sl: { by: 'percent', value: '120' } }, 'sl', /more than the whole collateral/],
      [{ amount: '0.1', type: 'limit', price: '50000', sl: { by: 'price', value: '55000' } }, 'sl', /below 50/],
    ]
    for (const [draft, field, words] of cases) {
      const { errors, request, blocker } = model(draft)
      assert.deepEqual(Object.keys(errors), [field], JSON.stringify([draft, errors]))
      assert.match(Object.values(errors)[0] ?? '', words)
      assert.deepEqual([request, blocker], [null, Object.values(errors)[0]])
    }
  })

  it('takes no market order in a closed market or at an old price, and lets a limit order wait', () => {
    const closed = 'The market is closed.'
    assert.equal(model({ amount: '0.1' }, { closed }).errors.market, closed)
    assert.notEqual(model({ amount: '0.1', type: 'limit', price: '50000' }, { closed }).request, null)
    const stale = 'No connection.'
    assert.equal(model({ amount: '0.1', type: 'limit', price: '50000' }, { stale }).errors.market, stale)
    assert.match(model({ amount: '0.1' }, { mark: null }).blocker ?? '', /no price/)
    assert.match(
      model({ amount: '0.1' }, { market: { ...SAMPLE_MARKET, collaterals: [] } }).blocker ?? '',
      /no collateral/,
    )
    assert.equal(model({ amount: '0.1', type: 'limit' }).blocker, 'Enter the price of the limit order.')
    assert.equal(model({ amount: '0.1', leverage: '' }).blocker, 'Enter the leverage.')
    assert.equal(model({ amount: '0.1', slippage: '' }).blocker, 'Enter the slippage.')
    assert.equal(model({ amountBy: 'collateral' }).blocker, 'Enter the collateral.')
  })

  it('warns of what does not stand in the way: an order that does not rest, and an empty wallet', () => {
    const limit = model({ amount: '0.1', type: 'limit', price: '61000' })
    assert.match(limit.warnings.price ?? '', /executes at once/)
    assert.notEqual(limit.request, null)
    assert.equal(model({ amount: '0.1', type: 'limit', price: '59000' }).warnings.price, undefined)
    const poor = model({ amount: '0.1' }, { balance: '600.11' })
    assert.match(poor.warnings.collateral ?? '', /Your wallet has 600[.,]11/u)
    assert.notEqual(poor.request, null)
    assert.equal(model({ amount: '0.1' }, { balance: '600.12' }).warnings.collateral, undefined)
    assert.equal(model({ amount: '0.1' }, { balance: null }).warnings.collateral, undefined)
  })

  it('reduces what is held on the other side, and nothing else', () => {
    const draft = changeDraft(
      { ...EMPTY_DRAFT, type: 'limit', amount: '0.1', amountBy: 'collateral' },
      { reduceOnly: true },
    )
    assert.deepEqual([draft.type, draft.amountBy], ['market', 'size'])
    const { request, estimate } = model(draft, { reducible: '0.5' })
    assert.deepEqual(request, {
      market: 'BTC/USD',
      side: 'long',
      type: 'market',
      size: '0.1',
      leverage: '10',
      slippage: '1',
      reduceOnly: true,
    })
    assert.equal(estimate, null)
    assert.match(model(draft, { reducible: '0' }).errors.reduceOnly ?? '', /no short position/)
    assert.match(model(draft, { reducible: '0.05' }).warnings.size ?? '', /You hold 0\.05 BTC/)
    assert.equal(model({ ...draft, leverage: '' }, { reducible: '1' }).request?.leverage, '1.1')
    assert.equal(changeDraft(draft, { type: 'stop' }).reduceOnly, false)
  })

  it('says so when an amount is more than the depth of the market', () => {
    const level = (price: string, cumulativeUsd: string) => ({ price, size: '1', sizeUsd: '1000', cumulativeUsd })
    const bids = [level('59988', '1000'), level('59900', '2000'), level('59000', '3000')]
    const book = { market: 'BTC/USD', markPrice: '60000', bids, asks: [], timestamp: 0 }
    assert.match(model({ side: 'short', amount: '9000' }, { book }).errors.size ?? '', /more than this market takes/)
    const byCollateral = model({ side: 'short', amountBy: 'collateral', amount: '90000000' }, { book })
    assert.match(byCollateral.errors.collateral ?? '', /more than this market takes/)
    assert.deepEqual(model({ side: 'short', amount: '0.001' }, { book }).errors, {})
  })

  it('takes USDC unless another token is chosen, else the first', () => {
    assert.equal(collateralOf(SAMPLE_MARKET, null)?.symbol, 'USDC')
    assert.equal(collateralOf(SAMPLE_MARKET, 'WETH')?.symbol, 'WETH')
    assert.equal(collateralOf(SAMPLE_MARKET, 'GONE')?.symbol, 'USDC')
    assert.equal(
      collateralOf({ ...SAMPLE_MARKET, collaterals: SAMPLE_MARKET.collaterals.slice(0, 1) }, null)?.symbol,
      'WETH',
    )
  })

  it('never throws and never makes an order out of something wrong, whatever is typed', () => {
    const text = fc.oneof(
      fc.string({ maxLength: 12 }),
      fc.stringMatching(/^\d{0,8}\.?\d{0,9}$/),
      fc.constantFrom('', '0', '.', '1.', '10', '0.1', '60000', '1e5', '-1'),
    )
    const stop = fc.record({ by: fc.constantFrom('price' as const, 'percent' as const), value: text })
    const drafts = fc.record({
      side: fc.constantFrom('long' as const, 'short' as const),
      type: fc.constantFrom('market' as const, 'limit' as const, 'stop' as const),
      price: text,
      amountBy: fc.constantFrom('size' as const, 'collateral' as const),
      amount: text,
      collateral: fc.constantFrom(null, 'WETH', 'X'),
      leverage: text,
      tp: stop,
      sl: stop,
      slippage: text,
      reduceOnly: fc.boolean(),
    })
    fc.assert(
      fc.property(drafts, fc.constantFrom(null, '60000', '0.00012'), (draft, mark) => {
        const { request, blocker, errors } = model(draft, { mark, reducible: '1' })
        assert.equal(request === null, blocker !== null || request === null)
        if (request === null) return
        assert.deepEqual(errors, {})
        assert.ok(decimal.compare(request.size, '0') > 0)
        assert.ok(decimal.compare(request.leverage, '1.1') >= 0 && decimal.compare(request.leverage, '200') <= 0)
        assert.equal(request.type === 'market', request.price === undefined)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('a stop', () => {
  const facts = { side: 'long', entry: '60000', leverage: '10', market: SAMPLE_MARKET } as const

  it('is a price, a gain on the collateral and a move of the price at once', () => {
    assert.deepEqual(stopValue('tp', { by: 'percent', value: '50' }, facts), {
      price: '63000',
      gainRate: '0.5',
      moveRate: '0.05',
    })
    assert.deepEqual(stopValue('sl', { by: 'price', value: '57000' }, { ...facts, side: 'short' }), {
      price: '57000',
      gainRate: '0.5',
      moveRate: '-0.05',
    })
    assert.equal(stopValue('sl', { by: 'percent', value: '25' }, facts)?.price, '58500')
    assert.equal(stopValue('sl', { by: 'percent', value: '25' }, { ...facts, side: 'short' })?.price, '61500')
    for (const value of ['', '0', '-5', 'x']) assert.equal(stopValue('tp', { by: 'price', value }, facts), null)
  })

  it('keeps its meaning when its unit is changed', () => {
    assert.deepEqual(restated('tp', { by: 'percent', value: '50' }, 'price', facts), { by: 'price', value: '63000' })
    assert.deepEqual(restated('sl', { by: 'price', value: '57000' }, 'percent', facts), { by: 'percent', value: '50' })
    assert.deepEqual(restated('sl', { by: 'price', value: '' }, 'percent', facts), { by: 'percent', value: '' })
    assert.deepEqual(restated('sl', { by: 'price', value: '57000' }, 'percent', null), { by: 'percent', value: '' })
  })

  it('by percent and back is the same to a step of the price', () => {
    const percents = fc.integer({ min: 1, max: 90_000 }).map((units) => String(units / 100))
    const leverages = fc.integer({ min: 11, max: 2_000 }).map((units) => String(units / 10))
    const kinds = fc.constantFrom('tp' as const, 'sl' as const)
    fc.assert(
      fc.property(
        percents,
        leverages,
        kinds,
        fc.constantFrom('long' as const, 'short' as const),
        (percent, leverage, kind, side) => {
          const of = { ...facts, leverage, side }
          const price = priceOfPercent(kind, percent, of)
          if (price === '0') return
          const gain = Number(stopValue(kind, { by: 'price', value: price }, of)?.gainRate) * 100
          const step = (0.005 / 60_000) * Number(leverage) * 100
          const expected = kind === 'tp' ? Number(percent) : -Number(percent)
          assert.ok(Math.abs(gain - expected) <= step + 1e-6, `${percent} became ${gain}`)
        },
      ),
    )
    assert.equal(priceOfPercent('tp', '5', { ...facts, leverage: '0' }), '60000')
  })
})

describe('the reading of fields', () => {
  it('takes a number that is still being typed, and says what it does not take', () => {
    assert.deepEqual(readAmount('1.', 2, 'The size'), { value: '1', error: null })
    assert.deepEqual(readAmount('', 2, 'The size'), { value: null, error: null })
    assert.match(readAmount('abc', 2, 'The size').error ?? '', /The size is a number/)
    assert.match(readAmount('1.5', 0, 'The size').error ?? '', /Whole numbers/)
    assert.match(readAmount('1.55', 1, 'The size').error ?? '', /At most 1 decimal here/)
    assert.equal(readLeverage('1.1', SAMPLE_MARKET).value, '1.1')
    assert.equal(readSlippage('0.001').value, '0.001')
    assert.match(readPrice('1844674408', SAMPLE_MARKET).error ?? '', /At most 1844674407/)
  })
})

describe('a draft', () => {
  it('survives a reload, and anything else in its place begins anew', () => {
    const store = createMemoryStore()
    const draft: TicketDraft = {
      ...EMPTY_DRAFT,
      side: 'short',
      type: 'stop',
      price: '50000',
      amount: '0.2',
      reduceOnly: false,
    }
    writeDraft(store, 'ticket x', draft)
    assert.deepEqual(readDraft(store, 'ticket x'), draft)
    assert.deepEqual(readDraft(store, 'ticket y'), EMPTY_DRAFT)
    for (const found of [null, 'text', [], 7, { side: 5, tp: 'no', amount: {} }]) {
      assert.deepEqual(parseDraft(found), EMPTY_DRAFT)
    }
    fc.assert(fc.property(fc.anything(), (found) => void parseDraft(found).leverage.length))
  })

  it('begins the next order with the terms of the last one, without its amount and prices', () => {
    const sent: TicketDraft = {
      ...EMPTY_DRAFT,
      side: 'short',
      leverage: '25',
      amount: '0.2',
      tp: { by: 'percent', value: '50' },
    }
    const next = nextDraft(sent)
    assert.deepEqual(
      [next.side, next.leverage, next.amount, next.tp],
      ['short', '25', '', { by: 'percent', value: '' }],
    )
  })
})
