import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startStandInFeed, type StandInFeed } from '../../testing/standInFeed.ts'
import { createFeedPages, FeedUnavailableError, type FeedPages } from './pages.ts'

const P10 = 10n ** 10n
const RANGE = { fromS: 100, toS: 200, minutes: 60 }
const HISTORY = '/charts/3/100/200/60'

describe('createFeedPages', () => {
  let feed: StandInFeed
  let pages: FeedPages
  before(async () => {
    feed = await startStandInFeed()
    pages = createFeedPages(feed.url)
  })
  after(() => feed.close())

  it('reads the snapshot by place, without the holes', async () => {
    feed.pages = { '/charts': () => ({ time: 1, closes: [5, null, 'x', 1e-7], indexPrices: [4, null, 0] }) }
    assert.deepEqual(await pages.snapshot(), {
      marks: [
        [0, 5n * P10],
        [3, 1_000n],
      ],
      indices: [[0, 4n * P10]],
    })
  })

  it('takes the oldest candle, whatever the order', async () => {
    const table = [{ time: 3, close: 30 }, { time: 1, close: 'nonsense' }, { time: 2, close: 20 }, null]
    feed.pages = { [HISTORY]: () => ({ table }) }
    assert.equal(await pages.firstClose(3, RANGE), 20n * P10)
  })

  it('has no close where there are no candles or no history', async () => {
    feed.pages = { [HISTORY]: () => ({ table: [] }) }
    assert.equal(await pages.firstClose(3, RANGE), undefined)
    feed.pages = {}
    assert.equal(await pages.firstClose(3, RANGE), undefined)
  })

  it('reads the flags that are flags, and knows a feed without them', async () => {
    feed.pages = {
      '/market-status': () => ({ 0: true, 1: false, x: true, '': false, '-1': true, 2: 'open', 70000: true }),
    }
    assert.deepEqual(
      await pages.marketStatus(),
      new Map([
        [0, true],
        [1, false],
      ]),
    )
    feed.pages = {}
    assert.equal(await pages.marketStatus(), undefined)
  })

  it('says that the feed is away: broken, no JSON, nobody there', async () => {
    const broken = (): never => {
      throw new Error('broken')
    }
    feed.pages = { '/charts': broken, '/market-status': () => '<html>', [HISTORY]: broken }
    await assert.rejects(pages.snapshot(), FeedUnavailableError)
    await assert.rejects(pages.marketStatus(), FeedUnavailableError)
    await assert.rejects(pages.firstClose(3, RANGE), FeedUnavailableError)
    await assert.rejects(createFeedPages('http://127.0.0.1:1').snapshot(), FeedUnavailableError)
  })
})
