import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { FILL_ACTIONS, parseAddress, RecentTradeSchema, type FillHistoryEntry, type Hex } from '@bezel/protocol'
import { Value } from '@sinclair/typebox/value'
import { insertFill } from '../store/fillStore.ts'
import { sampleFill } from '../store/testing/sampleFill.ts'
import { migrate } from '../store/openStore.ts'
import { ON_SQLITE, openTestStore, type TestStore } from '../store/testing/testStore.ts'
import type { ChainPlace } from '../trading/orders/orderModel.ts'
import { listTrades, recentTrade } from './recentTrades.ts'
import { TEST_SCOPE } from '../store/testing/testScope.ts'

const HASH = `0x${'cd'.repeat(32)}` as Hex
const TRADER = parseAddress(`0x${'a1'.repeat(20)}`)!

function fillOf(id: number, of: Partial<FillHistoryEntry> = {}): FillHistoryEntry {
  return sampleFill(id, { price: '60000.5', ...of })
}

function placeOf(blockNumber: number, logIndex: number): ChainPlace {
  const blockHash = `0x${blockNumber.toString(16).padStart(64, '0')}` as Hex
  return { blockHash, blockNumber, logIndex, txHash: HASH, timestampMs: blockNumber * 10 }
}

describe('a recent trade', () => {
  it('is a fill without the trader and the position', () => {
    const trade = recentTrade(fillOf(1))
    assert.ok(Value.Check(RecentTradeSchema, trade))
    assert.deepEqual(trade, {
      market: 'BTC/USD',
      price: '60000.5',
      sizeUsd: '6000.05',
      side: 'long',
      action: 'TradeOpenedMarket',
      timestamp: 1_001,
      txHash: HASH,
    })
  })

  it('is worth size x price, cut after 18 decimals', () => {
    const sizeUsd = (size: string, price: string) => recentTrade(fillOf(1, { size, price }))?.sizeUsd
    assert.equal(sizeUsd('0.000000000000000001', '0.9999999999'), '0')
    assert.equal(sizeUsd('0.000000000000000003', '0.5'), '0.000000000000000001')
    assert.equal(sizeUsd('1.123456789012345678', '60000.1234567891'), '67407.546039108604740357')
  })

  it('is made of every action but a change of leverage and a refusal', () => {
    const untraded = ['TradeLeverageUpdate', 'TradeOpenRefused', 'TradeUpdateRefused']
    const made = FILL_ACTIONS.filter((action) => recentTrade(fillOf(1, { action })) !== undefined)
    assert.deepEqual(
      made,
      FILL_ACTIONS.filter((action) => !untraded.includes(action)),
    )
  })

  it('is not made of what has no size or no name', () => {
    assert.equal(recentTrade(fillOf(1, { size: '0' })), undefined)
    assert.equal(recentTrade(fillOf(1, { market: null })), undefined)
  })
})

describe('the recent trades of a pair', () => {
  let opened: TestStore
  let nextId = 1

  before(async () => {
    opened = openTestStore()
    await migrate(opened.store)
    // Blocks 1 to 300 of pair 0: two trades each in the first 20, then only changes of leverage, and one trade in the
    // last.
    for (let block = 1; block <= 300; block += 1) {
      const isTrade = block <= 20 || block === 300
      await insert(block, 0, isTrade ? {} : { action: 'TradeLeverageUpdate' })
      await insert(block, 7, isTrade ? {} : { action: 'TradeLeverageUpdate' })
    }
    await insert(150, 3, { market: 'ETH/USD' }, 1)
  })
  after(() => opened.remove())

  async function insert(block: number, logIndex: number, of: Partial<FillHistoryEntry>, pairIndex = 0): Promise<void> {
    const id = nextId++
    await opened.store.transaction(TEST_SCOPE, (sql) =>
      insertFill(sql, {
        chain: 'base',
        trader: TRADER,
        pairIndex,
        place: placeOf(block, logIndex),
        fill: fillOf(id, { timestamp: block * 10 + logIndex, ...of }),
      }),
    )
  }

  const timesOf = async (limit: number, pairIndex = 0, chain: 'base' | 'polygon' = 'base'): Promise<number[]> =>
    (await listTrades(opened.store.read, { chain, pairIndex, limit })).map(({ timestamp }) => timestamp)

  it('come newest first, as many as asked for, whatever lies between them', async () => {
    assert.deepEqual(await timesOf(1), [3007])
    assert.deepEqual(await timesOf(5), [3007, 3000, 207, 200, 197])
    assert.equal((await timesOf(40)).length, 40)
  })

  it('are all there are when there are fewer', async () => {
    const all = await timesOf(500)
    assert.equal(all.length, 42)
    assert.deepEqual(
      all,
      all.toSorted((a, b) => b - a),
    )
    assert.equal(all.at(-1), 10)
  })

  it('are those of the pair and the chain', async () => {
    assert.deepEqual(await timesOf(10, 1), [1503])
    assert.deepEqual(await timesOf(10, 2), [])
    assert.deepEqual(await timesOf(10, 0, 'polygon'), [])
  })

  it('are found by their index', ON_SQLITE, async () => {
    const [{ detail } = { detail: '' }] = await opened.store.read.all<{ detail: string }>(
      `explain query plan select body from fills
       where chain = $1 and pair_index = $2 and (block_number, log_index) < ($3, $4)
       order by block_number desc, log_index desc limit $5`,
      'base',
      0,
      100,
      0,
      10,
    )
    assert.match(detail, /fills_by_pair \(chain=\? AND pair_index=\? AND \(?block_number/)
  })
})
