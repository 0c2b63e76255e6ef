import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Order, Position } from '@bezel/sdk'
import { styleFor, unpainted, visibleWidth } from '../output/text.ts'
import { drawFrame, type ScreenSize } from './drawFrame.ts'
import type { ScreenState } from './screenState.ts'
import { NOW_MS, ORDER, POSITION, priceOf, SAMPLE_SCREEN } from './testing/sampleScreen.ts'

const PLAIN = styleFor(false, {})
const COLOURED = styleFor(true, {})
const SMALL: ScreenSize = { columns: 80, rows: 24 }

const draw = (state: ScreenState, size = SMALL): string[] => drawFrame(state, size, PLAIN)
const many = <Item extends { readonly id: string }>(item: Item, count: number): Item[] =>
  Array.from({ length: count }, (_, place) => ({ ...item, id: String(2000 + place) }))

describe('drawFrame', () => {
  it('shows everything at 80 x 24', () => {
    const lines = draw(SAMPLE_SCREEN)
    assert.deepEqual(
      lines.map((line) => line.trimEnd()).filter((line) => line !== ''),
      [
        '0x70997970C51812dc3A010C7d01b50e0d17dc79C8 (trader-1)  arbitrum-sepolia',
        '9879.254999 USDC',
        'POSITION  MARKET   SIDE      SIZE          PNL   MARK      LIQ  TP     SL  ENTRY',
        '1043      BTC/USD  long  0.019996  -0.961 USDC  60000  54694.9   -  57000  60012',
        '  pnl % -0.8  lev 10x',
        'ORDER  MARKET   SIDE   TYPE   SIZE  PRICE  STATUS  TP    SL  LEV  UPDATED',
        '1044   ETH/USD  short  limit   1.5   4200  open     -  4500   5x  12:04:31',
        'PRICES',
        'BTC/USD 60000   ETH/USD 4100.5',
        'LOG  6 earlier: bezel watch --after 0',
        '12:04:31 #7    order 1044 open: ETH/USD short 1.5 limit at 4200, sl 4500',
        '12:04:31 #8    positions: 1043 BTC/USD long 0.019996 at 10x, sl 57000',
        'live                                                      12:04:31 UTC  q leaves',
      ],
    )
    assert.equal(lines.length, 24)
  })

  it('counts what does not fit, and says which command shows it', () => {
    const prices = new Map(Array.from({ length: 90 }, (_, place) => [`M${place}/USD`, priceOf(`M${place}/USD`, '1')]))
    const state = { ...SAMPLE_SCREEN, positions: many(POSITION, 30), orders: many(ORDER, 40), prices }
    const text = draw(state).join('\n')
    const shown = (pattern: RegExp): number => text.match(pattern)?.length ?? 0
    const more = (command: string): number => Number(new RegExp(`(\\d+) more: bezel ${command}`).exec(text)?.[1])
    assert.equal(shown(/^20\d\d +BTC\/USD/gm) + more('positions'), 30)
    assert.equal(shown(/^20\d\d +ETH\/USD/gm) + more('orders'), 40)
    assert.equal(shown(/M\d+\/USD 1\b/g) + Number(/(\d+) more$/m.exec(text)?.[1]), 90)
    assert.match(text, /^LOG {2}\d+ earlier/m)
  })

  it('names those commands as the user types them', () => {
    const typing = { program: 'bezel', options: ['--as trader-2'] }
    const text = draw({ ...SAMPLE_SCREEN, typing, positions: many(POSITION, 30), orders: many(ORDER, 40) }).join('\n')
    for (const command of ['positions', 'orders', 'watch --after 0'])
      assert.ok(text.includes(`: bezel ${command} --as trader-2`), text)
  })

  it('shows the prices of markets that are traded before all others, and only chosen ones beside them', () => {
    const prices = new Map(['A/USD', 'B/USD', 'ETH/USD', 'BTC/USD'].map((market) => [market, priceOf(market, '1')]))
    const lineOf = (state: ScreenState): string => draw(state)[draw(state).indexOf('PRICES') + 1]!
    assert.match(lineOf({ ...SAMPLE_SCREEN, prices }), /^BTC\/USD 1 +ETH\/USD 1 +A\/USD 1 +B\/USD 1$/)
    assert.match(lineOf({ ...SAMPLE_SCREEN, prices, chosen: ['B/USD'] }), /^BTC\/USD 1 +ETH\/USD 1 +B\/USD 1$/)
  })

  it('tells how the connection is, and when it is tried again', () => {
    const last = (connection: ScreenState['connection']): string => draw({ ...SAMPLE_SCREEN, connection }).at(-1)!
    assert.match(last({ state: 'connecting' }), /^connecting /)
    const waiting = { state: 'waiting', reason: 'it went away', untilMs: NOW_MS + 2500 } as const
    assert.match(last(waiting), /^connection lost, trying again in 3 s \(it went away\) +12:04:31 UTC {2}q leaves$/)
    assert.match(last({ ...waiting, untilMs: NOW_MS }), /^connection lost, trying again now/)
  })

  it('says that it waits, and that there is nothing', () => {
    const waiting = draw({ ...SAMPLE_SCREEN, positions: undefined, orders: undefined, prices: new Map(), log: [] })
    assert.match(waiting.join('\n'), /Positions: waiting.*\nOrders: waiting.*\nPrices: waiting.*\nLog: nothing/)
    assert.match(draw({ ...SAMPLE_SCREEN, positions: [], orders: [] }).join('\n'), /No open positions\nNo open orders/)
  })

  it('shows changes of positions that wait for the oracle', () => {
    const pendingUpdate = { kind: 'leverage', leverage: '5', collateralDelta: '1', txHash: null } as const
    const pending = { ...pendingUpdate, createdAt: NOW_MS, timesOutAtBlock: 9, status: 'timed_out' } as const
    const text = draw({ ...SAMPLE_SCREEN, positions: [{ ...POSITION, pendingUpdate: pending }] }).join('\n')
    assert.match(text, /leverage, timed out/)
  })

  it('is as tall and no wider than any terminal, whatever is on it, with colours or without', () => {
    fc.assert(
      fc.property(
        screens,
        fc.integer({ min: 40, max: 200 }),
        fc.integer({ min: 10, max: 60 }),
        (state, columns, rows) => {
          const coloured = drawFrame(state, { columns, rows }, COLOURED)
          assert.equal(coloured.length, rows)
          for (const line of coloured) assert.ok(visibleWidth(line) <= columns, line)
          const uncoloured = coloured.map((line) => unpainted(line).trimEnd())
          assert.deepEqual(
            uncoloured,
            draw(state, { columns, rows }).map((line) => line.trimEnd()),
          )
          assert.ok(
            uncoloured.every((line) => /^[ -~…]*$/.test(line)),
            'each character takes one column',
          )
          assert.match(uncoloured.at(-1)!, /UTC {2}q leaves$/)
        },
      ),
    )
  })

  it('fits terminals that are too small for anything else', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 39 }), fc.integer({ min: 1, max: 9 }), (columns, rows) => {
        const lines = draw(SAMPLE_SCREEN, { columns, rows })
        assert.equal(lines.length, rows)
        assert.ok(lines.every((line) => line.length <= columns))
      }),
    )
  })
})

const digits = fc.bigInt({ min: 0n, max: 10n ** 30n }).map(String)
const decimals = fc
  .tuple(fc.constantFrom('', '-'), digits, fc.stringMatching(/^\d{0,17}[1-9]$/), fc.boolean())
  .map(([sign, whole, fraction, isWhole]) => `${sign}${whole}${isWhole ? '' : `.${fraction}`}`)
const words = fc.string({ unit: 'grapheme', maxLength: 30 })
const markets = fc.oneof(fc.constantFrom('BTC/USD', 'ETH/USD', 'A/USD'), words)
const sides = fc.constantFrom('long' as const, 'short' as const)

const positionsOf: fc.Arbitrary<Position> = fc.record({
  ...Object.fromEntries(Object.entries(POSITION).map(([name, value]) => [name, fc.constant(value)])),
  id: digits,
  market: markets,
  side: sides,
  size: decimals,
  collateral: decimals,
  collateralSymbol: words,
  entryPrice: decimals,
  markPrice: decimals,
  liquidationPrice: decimals,
  unrealizedPnl: decimals,
  unrealizedPnlPercent: decimals,
  sl: decimals,
}) as fc.Arbitrary<Position>

const ordersOf: fc.Arbitrary<Order> = fc
  .record({
    id: digits,
    market: markets,
    side: sides,
    size: decimals,
    price: fc.option(decimals),
    sl: fc.option(decimals),
  })
  .map((fields) => ({ ...ORDER, ...fields }))

const screens: fc.Arbitrary<ScreenState> = fc
  .record({
    positions: fc.option(fc.array(positionsOf, { maxLength: 12 }), { nil: undefined }),
    orders: fc.option(fc.array(ordersOf, { maxLength: 12 }), { nil: undefined }),
    prices: fc.array(fc.tuple(markets, decimals), { maxLength: 40 }),
    balances: fc.array(fc.record({ collateral: words, balance: decimals, allowance: decimals }), { maxLength: 6 }),
    reason: words,
    reverted: fc.boolean(),
  })
  .map(({ prices, reason, reverted, ...fields }) => ({
    ...SAMPLE_SCREEN,
    ...fields,
    prices: new Map(prices.map(([market, mark]) => [market, priceOf(market, mark)])),
    connection: { state: 'waiting', reason, untilMs: NOW_MS + 5000 },
    log: [
      ...SAMPLE_SCREEN.log,
      ...(fields.orders ?? []).map(
        (data, place) =>
          ({ seq: 9 + place, channel: 'orders', timestamp: NOW_MS, block: null, reverted, data }) as const,
      ),
      { seq: 99, channel: 'positions', timestamp: NOW_MS, block: 5, reverted, data: fields.positions ?? [] },
    ],
  }))
