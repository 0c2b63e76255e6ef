import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { FundingRateP, parseAddress, TokenSize, type FillHistoryEntry, type Hex } from '@bezel/protocol'
import { orderBook } from '../../market/orderBook.ts'
import { usd } from '../../market/testing/fixtures.ts'
import { insertFill } from '../../store/fillStore.ts'
import { sampleFill } from '../../store/testing/sampleFill.ts'
import { QUIET_PAIR } from '../../trading/valuation/testing/fixtures.ts'
import { coinsOf } from '../coins.ts'
import { ALICE, createFacadeWorld, flatCandle, type FacadeWorld } from '../testing/facadeWorld.ts'
import { answerInfo } from './infoTypes.ts'
import { MalformedInfoError } from './infoRequest.ts'
import { TEST_SCOPE } from '../../store/testing/testScope.ts'

const HASH = `0x${'cd'.repeat(32)}` as Hex

const NUMBER = /^-?\d+(?:\.\d+)?$/

const HOUR_MS = 3_600_000

describe('what the facade says of markets', () => {
  let world: FacadeWorld

  beforeEach(async () => {
    world = await createFacadeWorld()
  })
  afterEach(() => world.opened.remove())

  async function ask(type: string, fields: Record<string, unknown> = {}) {
    return JSON.parse(String(await answerInfo({ type, ...fields }, world.reads)))
  }
  const refuses = (type: string, fields: Record<string, unknown>) =>
    assert.rejects(async () => answerInfo({ type, ...fields }, world.reads), MalformedInfoError)

  it('meta has a place for every pair, each with what clients need', async () => {
    const { universe, marginTables, collateralToken } = await ask('meta')
    assert.equal(collateralToken, 0)
    assert.equal(universe.length, 22)
    const tables = new Map(marginTables as [number, { marginTiers: { maxLeverage: number }[] }][])
    for (const { name, szDecimals, maxLeverage, marginTableId, onlyIsolated } of universe) {
      assert.equal(typeof name, 'string')
      assert.ok(Number.isInteger(szDecimals) && Number.isInteger(maxLeverage) && onlyIsolated)
      assert.equal(tables.get(marginTableId)?.marginTiers[0]?.maxLeverage, maxLeverage)
    }
    assert.deepEqual(await ask('allPerpMetas'), [await ask('meta')])
  })

  it('marginTable is that of meta, and nothing for an id that there is not', async () => {
    for (const [id, table] of (await ask('meta')).marginTables)
      assert.deepEqual(await ask('marginTable', { id }), table)
    assert.equal(await ask('marginTable', { id: 7 }), null)
    for (const id of [undefined, '50', 1.5, null]) await refuses('marginTable', { id })
  })

  it('predictedFundings has the present rate of each coin with a price, due at the next full hour', async () => {
    const [{ universe }, ctxs] = await ask('metaAndAssetCtxs')
    const fundings = await ask('predictedFundings')
    assert.ok(fundings.length > 0)
    for (const [coin, [[venue, { fundingRate, nextFundingTime }]]] of fundings) {
      const at = universe.findIndex(({ name }: { name: string }) => name === coin)
      assert.deepEqual([venue, fundingRate], ['HlPerp', ctxs[at].funding], coin)
      assert.equal(nextFundingTime % HOUR_MS, 0)
      assert.ok(nextFundingTime > world.market.nowMs && nextFundingTime <= world.market.nowMs + HOUR_MS)
    }
  })

  it('categories are the groups of the markets', async () => {
    const categories = new Map<string, string>(await ask('perpCategories'))
    assert.equal(categories.get('BTC'), 'crypto')
    const concise = await ask('perpConciseAnnotations')
    assert.deepEqual(
      concise,
      [...categories].map(([coin, category]) => [coin, { category }]),
    )
    assert.deepEqual(await ask('perpAnnotation', { coin: 'BTC' }), { category: 'crypto', description: 'BTC/USD' })
    assert.equal(await ask('perpAnnotation', { coin: 'NOPE' }), null)
  })

  it('metaAndAssetCtxs has one state for each, with prices that have a point', async () => {
    const [meta, ctxs] = await ask('metaAndAssetCtxs')
    assert.deepEqual(meta, await ask('meta'))
    assert.equal(ctxs.length, meta.universe.length)
    for (const ctx of ctxs) {
      for (const name of ['funding', 'openInterest', 'prevDayPx', 'dayNtlVlm', 'oraclePx', 'markPx', 'dayBaseVlm']) {
        assert.match(ctx[name], NUMBER, name)
      }
      assert.ok(ctx.markPx.includes('.'))
    }
    assert.deepEqual(ctxs[0], {
      funding: '0.0',
      openInterest: '0.0',
      prevDayPx: '59000.00',
      dayNtlVlm: '0.0',
      premium: '0.0',
      oraclePx: '60000.00',
      markPx: '60000.00',
      midPx: '60000.00',
      impactPxs: ['59988.00', '60012.00'],
      dayBaseVlm: '0.0',
    })
    assert.equal(ctxs[1].midPx, null)
    assert.equal(ctxs[3].markPx, '0.0123456', 'of 1,000 units')
  })

  it('shows funding as a fraction and open interest in coins', async () => {
    const long = { ...QUIET_PAIR, oiLongToken: TokenSize.of(3n * TokenSize.one), oiShortToken: TokenSize.one }
    const funded = {
      ...long,
      fundingParams: { ...long.fundingParams, fundingFeesEnabled: true },
      fundingData: { ...long.fundingData, lastFundingRatePerSecondP: FundingRateP.of(10n ** 13n) },
    }
    const chain = world.market.chain!
    world.market.chain = { ...chain, states: new Map([...chain.states, [3, new Map([[0, funded]])]]) }
    const [, [btc]] = await ask('metaAndAssetCtxs')
    assert.equal(btc.openInterest, '4.0')
    assert.notEqual(Number(btc.funding), 0)
  })

  it('makes answers once for each change', async () => {
    for (const type of ['meta', 'metaAndAssetCtxs', 'allMids']) {
      const first = answerInfo({ type }, world.reads)
      assert.ok(first instanceof Buffer)
      assert.equal(answerInfo({ type }, world.reads), first)
    }
    world.market.quotes.set(0, { ...world.market.quotes.get(0)!, mark: usd(61_000) })
    world.market.version += 1
    assert.equal((await ask('allMids')).BTC, '61000.00')
    const [, ctxs] = await ask('metaAndAssetCtxs')
    assert.deepEqual([ctxs[0].markPx, ctxs[3].markPx], ['61000.00', '0.0123456'])
  })

  it('allMids has every coin that has a price, also one closed to new trades', async () => {
    assert.deepEqual(Object.keys(await ask('allMids')), ['BTC', 'kPEPE', 'USDJPY', 'AMZN', 'EUR'])
    world.market.quotes.set(7, { ...world.market.quotes.get(9)!, pairIndex: 7 })
    world.market.version += 1
    assert.equal((await ask('allMids')).AMZN_7, '210.00')
  })

  it('goes on with the last price when the feed or the chain is silent', async () => {
    world.market.nowMs += HOUR_MS
    world.market.isLagging = true
    assert.equal((await ask('allMids')).BTC, '60000.00')
    assert.equal((await ask('l2Book', { coin: 'BTC' })).levels[0].length, 30)
  })

  it('has no prices before the feed has given them, rather than empty ones, and names the markets all the same', async () => {
    Object.assign(world.market, { hasSnapshot: false, version: world.market.version + 1 })
    const refused = [
      ...['metaAndAssetCtxs', 'allMids', 'predictedFundings'].map((type) => ({ type })),
      { type: 'l2Book', coin: 'BTC' },
      { type: 'activeAssetData', coin: 'BTC', user: ALICE },
    ]
    for (const body of refused) {
      await assert.rejects(async () => answerInfo(body, world.reads), { code: 'NOT_READY' }, body.type)
    }
    assert.equal((await ask('meta')).universe[0].name, 'BTC')
    world.market.wasAsked = false
    await assert.rejects(async () => answerInfo({ type: 'meta' }, world.reads), { code: 'NOT_READY' })
  })

  it('says what there is not', async () => {
    const [token, ...others] = (await ask('spotMeta')).tokens
    assert.deepEqual([token.name, token.index, others], ['USDC', 0, []])
    assert.deepEqual(await ask('spotMetaAndAssetCtxs'), [await ask('spotMeta'), []])
    assert.deepEqual(await ask('perpDexs'), [null])
    assert.deepEqual(await ask('outcomeMeta'), { outcomes: [], questions: [] })
    assert.deepEqual(await ask('exchangeStatus'), { time: world.market.nowMs, specialStatuses: null })
    assert.equal(await ask('vaultDetails', { vaultAddress: ALICE }), null)
    assert.deepEqual(await ask('fundingHistory', { coin: 'BTC', startTime: 0 }), [])
  })

  it('has nothing in an exchange within the exchange, and no name is the main one', async () => {
    const empty = { universe: [], marginTables: [], collateralToken: 0 }
    assert.deepEqual(await ask('meta', { dex: 'xyz' }), empty)
    assert.deepEqual(await ask('metaAndAssetCtxs', { dex: 'xyz' }), [empty, []])
    assert.deepEqual(await ask('allMids', { dex: 'xyz' }), {})
    for (const dex of ['', null]) assert.deepEqual(await ask('meta', { dex }), await ask('meta'))
    await refuses('meta', { dex: 5 })
  })

  describe('l2Book', () => {
    const book = (fields: Record<string, unknown> = {}, coin = 'BTC') => ask('l2Book', { coin, ...fields })

    it('is the depth beyond the spread, best first', async () => {
      const { coin, time, levels } = await book()
      assert.deepEqual([coin, time], ['BTC', world.market.nowMs])
      const [bids, asks] = levels as { px: string; sz: string; n: number }[][]
      assert.deepEqual([bids![0]?.px, asks![0]?.px], ['59988.0', '60012.0'])
      const [, [{ impactPxs }]] = await ask('metaAndAssetCtxs')
      assert.deepEqual(impactPxs.map(Number), [59_988, 60_012], 'the best prices of the book')
      for (const [at, { px, sz, n }] of bids!.entries()) {
        assert.ok(at === 0 || Number(px) < Number(bids![at - 1]!.px))
        assert.ok(Number(sz) > 0 && n === 1)
        assert.ok(Math.abs(Number(px) * Number(sz) - 100_000) < 400, 'a band of 100,000 USD')
      }
      for (const [at, { px }] of asks!.entries()) assert.ok(at === 0 || Number(px) > Number(asks![at - 1]!.px))
    })

    it('is the native book, in the units and steps of the coin', async () => {
      const { chain } = world.market
      for (const [name, units] of [
        ['BTC', 1],
        ['kPEPE', 1_000],
        ['USDJPY', 1],
      ] as const) {
        const { pairIndex, pxDecimals, szDecimals } = coinsOf(chain!).named(name)!
        const quote = world.market.quotes.get(pairIndex)!
        const native = orderBook(chain!, chain!.pairs.get(pairIndex)!, quote, 30)
        const [bids, asks] = (await book({}, name)).levels as { px: string; sz: string }[][]
        for (const [shown, side] of [
          [bids!, native.bids],
          [asks!, native.asks],
        ] as const) {
          assert.equal(shown.length, side.length)
          for (const [at, { px, sz }] of shown.entries()) {
            const { price, size } = side[at]!
            assert.ok(Math.abs(Number(px) - Number(price) * units) < 1.0001 * 10 ** -pxDecimals, `${name}: ${px}`)
            assert.ok(Math.abs(Number(sz) - Number(size) / units) < 1.0001 * 10 ** -szDecimals, `${name}: ${sz}`)
          }
        }
      }
    })

    it('joins levels to as many digits as asked for, and loses nothing', async () => {
      const total = (levels: { sz: string }[]) => levels.reduce((sum, { sz }) => sum + Number(sz), 0)
      const full = await book()
      for (const fields of [{ nSigFigs: 2 }, { nSigFigs: 3 }, { nSigFigs: 4 }, { nSigFigs: 5, mantissa: 5 }]) {
        const { levels } = await book(fields)
        for (const side of [0, 1]) {
          assert.ok(levels[side].length <= full.levels[side].length)
          assert.ok(Math.abs(total(levels[side]) - total(full.levels[side])) < 0.001)
          const digits = levels[side].map(
            ({ px }: { px: string }) =>
              Number(px)
                .toString()
                .replace(/\.?0+$/, '').length,
          )
          assert.ok(Math.max(...digits) <= fields.nSigFigs)
        }
      }
      const { levels } = await book({ nSigFigs: 5, mantissa: 2 })
      for (const { px } of levels[0]) assert.equal(Number(px) % 2, 0)
    })

    it('of a pair that volume does not move has all that may be opened at the best price', async () => {
      const [bids, asks] = (await book({}, 'USDJPY')).levels
      assert.deepEqual([bids.length, asks.length], [1, 1])
      assert.ok(Number(bids[0].px) < 151.234 && Number(asks[0].px) > 151.234)
    })

    it('of a closed market is empty, and of an unknown one null', async () => {
      assert.deepEqual((await book({}, 'EUR')).levels, [[], []])
      assert.deepEqual((await book({}, 'GONE')).levels, [[], []])
      assert.equal(await book({}, 'NOPE'), null)
    })

    it('refuses digits that make no sense', async () => {
      for (const fields of [
        { nSigFigs: 1 },
        { nSigFigs: 6 },
        { nSigFigs: '5' },
        { nSigFigs: 4, mantissa: 2 },
        { mantissa: 5 },
      ]) {
        await refuses('l2Book', { coin: 'BTC', ...fields })
      }
      await refuses('l2Book', { nSigFigs: 5, mantissa: 3, coin: 'BTC' })
      await refuses('l2Book', {})
      assert.ok(await book({ nSigFigs: null, mantissa: null }))
    })
  })

  describe('recentTrades', () => {
    const fillOf = (id: number, changes: Partial<FillHistoryEntry>): FillHistoryEntry =>
      sampleFill(id, { market: 'PEPE/USD', price: '0.0000125', size: '2000000', collateral: '25', ...changes })

    it('are what was bought and sold, newest first, without whose it was', async () => {
      const fills = [
        fillOf(1, {}),
        fillOf(2, { action: 'TradeClosedSL' }),
        fillOf(3, { action: 'TradeLeverageUpdate' }),
        fillOf(4, { side: 'short' }),
      ]
      await world.opened.store.transaction(TEST_SCOPE, async (sql) => {
        for (const fill of fills) {
          const blockHash = `0x${fill.id.toString(16).padStart(64, '0')}` as Hex
          const place = { blockHash, blockNumber: fill.id, logIndex: 0, txHash: HASH, timestampMs: fill.timestamp }
          await insertFill(sql, { chain: 'base', trader: ALICE, pairIndex: 3, place, fill })
        }
      })
      const trades = await ask('recentTrades', { coin: 'kPEPE' })
      assert.deepEqual(
        trades.map(({ tid, side }: { tid: number; side: string }) => [tid, side]),
        [
          [4, 'A'],
          [2, 'A'],
          [1, 'B'],
        ],
      )
      const { users, ...rest } = trades[2]
      assert.deepEqual(rest, { coin: 'kPEPE', side: 'B', px: '0.0125', sz: '2000.0', time: 1_001, hash: HASH, tid: 1 })
      for (const user of users) assert.equal(parseAddress(user), `0x${'0'.repeat(40)}`)
      assert.ok(!JSON.stringify(trades).toLowerCase().includes(ALICE.toLowerCase()))
      assert.deepEqual(await ask('recentTrades', { coin: 'BTC' }), [])
      assert.equal(await ask('recentTrades', { coin: 'NOPE' }), null)
    })
  })

  describe('candleSnapshot', () => {
    const WIDTHS: Record<string, number> = { '1m': 60_000, '5m': 300_000, '15m': 900_000, '30m': 1_800_000 }
    Object.assign(WIDTHS, { '1h': HOUR_MS, '4h': 4 * HOUR_MS, '1d': 24 * HOUR_MS })
    const ALL = ['1m', '3m', '5m', '15m', '30m', '1h', '2h', '4h', '8h', '12h', '1d', '3d', '1w', '1M']

    beforeEach(() => {
      // The price of each candle is its beginning in minutes.
      world.candlesOf = ({ interval, fromMs, toMs }) => {
        const widthMs = WIDTHS[interval]!
        const count = Math.floor(toMs / widthMs) - Math.ceil(fromMs / widthMs) + 1
        assert.ok(count <= 5_000, 'no more than one read gives')
        return Array.from({ length: count }, (_, at) => {
          const time = (Math.ceil(fromMs / widthMs) + at) * widthMs
          return flatCandle(time, String(time / 60_000 + 1))
        })
      }
    })
    const candles = (req: Record<string, unknown>) => ask('candleSnapshot', { req: { coin: 'BTC', ...req } })

    it('has all widths, oldest first, without holes', async () => {
      const now = world.market.nowMs
      for (const interval of ALL) {
        const found = await candles({ interval, startTime: now - 100 * 24 * HOUR_MS })
        assert.ok(found.length > 2, interval)
        for (const [at, { t, T, s, i, o, c, h, l, v, n }] of found.entries()) {
          assert.deepEqual([s, i, v, n], ['BTC', interval, '0.0', 0])
          assert.equal(T + 1, found[at + 1]?.t ?? T + 1)
          assert.equal(Number(o), t / 60_000 + 1, 'opens with the first of its parts')
          assert.ok(Number(l) === Number(o) && Number(h) === Number(c))
        }
        assert.ok(found.at(-1).t <= now && now <= found.at(-1).T, 'the running one is the last')
      }
    })

    it('gives at most the last 2,000 when asked from the beginning of time', async () => {
      for (const interval of ['1m', '3m', '1h', '12h', '1d']) {
        const found = await candles({ interval, startTime: 0 })
        assert.ok(found.length > 1_990 && found.length <= 2_000, `${interval}: ${found.length}`)
        assert.ok(found.at(-1).T >= world.market.nowMs)
      }
      assert.equal((await candles({ interval: '1w', startTime: 0 })).length, 714, 'of 5,000 days')
    })

    it('begins weeks on Mondays and months on their first day', async () => {
      const startTime = Date.UTC(2026, 0, 1)
      const endTime = Date.UTC(2026, 11, 31)
      for (const { t } of await candles({ interval: '1w', startTime, endTime }))
        assert.equal(new Date(t).getUTCDay(), 1)
      const months = await candles({ interval: '1M', startTime, endTime })
      assert.deepEqual(
        months.map(({ t }: { t: number }) => new Date(t).toISOString().slice(0, 10)),
        Array.from({ length: 12 }, (_, month) => `2026-${String(month + 1).padStart(2, '0')}-01`),
      )
    })

    it('keeps to the times asked for', async () => {
      const startTime = world.market.nowMs - 10 * HOUR_MS
      const found = await candles({ interval: '2h', startTime: startTime + 1, endTime: startTime + 6 * HOUR_MS })
      for (const { t } of found) assert.ok(t > startTime && t <= startTime + 6 * HOUR_MS)
      assert.deepEqual(await candles({ interval: '1h', startTime: 5, endTime: 4 }), [])
      assert.deepEqual(await candles({ interval: '1h', startTime: world.market.nowMs + 1 }), [])
    })

    it('counts coins of 1,000 units', async () => {
      world.candlesOf = ({ toMs }) => [flatCandle(toMs - (toMs % HOUR_MS), '0.0000123')]
      const [candle] = await candles({ coin: 'kPEPE', interval: '1h', startTime: world.market.nowMs - HOUR_MS })
      assert.deepEqual([candle.s, candle.o], ['kPEPE', '0.0123'])
    })

    it('of an unknown coin is null, and what can not be read is refused', async () => {
      assert.equal(await candles({ coin: 'NOPE', interval: '1h', startTime: 0 }), null)
      assert.deepEqual(await candles({ coin: 'GONE', interval: '1h', startTime: 0 }), [])
      const bad = [
        { interval: '7m' },
        { interval: 'toString' },
        { interval: '1h', startTime: '0' },
        { interval: '1h', startTime: -1 },
      ]
      for (const req of bad) await refuses('candleSnapshot', { req: { coin: 'BTC', startTime: 0, ...req } })
      for (const req of [undefined, null, [], 'BTC', { coin: 'BTC', interval: '1h' }])
        await refuses('candleSnapshot', { req })
    })
  })
})
