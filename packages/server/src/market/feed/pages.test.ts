import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { startStandInFeed, type StandInFeed } from '@bezel/testkit/standInFeed.ts'
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

  it('takes a page without any price for no answer', async () => {
    for (const page of [{}, { closes: [] }, { closes: [null, 'x'] }]) {
      feed.pages = { '/charts': () => page }
      await assert.rejects(pages.snapshot(), FeedUnavailableError)
    }
    feed.pages = {}
    await assert.rejects(pages.snapshot(), FeedUnavailableError)
  })

  it('reads the candles of a range, without what is none of them', async () => {
    const row = (time: unknown, open: unknown, high: unknown, low: unknown, close: unknown) => ({
      time,
      open,
      high,
      low,
      close,
    })
    const table = [
      row(7_200_000, 2, 4, 1, 3),
      row(3_600_000, '1e-7', 5, '1e-7', 5),
      row(3_600_001, 2, 4, 1, 3),
      row(10_800_000, 2, 1, 4, 3),
      row('x', 2, 4, 1, 3),
      row(14_400_000, 0, 4, 1, 3),
      null,
    ]
    feed.pages = { [HISTORY]: () => ({ table }) }
    assert.deepEqual(
      await pages.history(3, RANGE),
      new Map([
        [7_200_000, { open: 2n * P10, high: 4n * P10, low: P10, close: 3n * P10 }],
        [3_600_000, { open: 1_000n, high: 5n * P10, low: 1_000n, close: 5n * P10 }],
      ]),
    )
    feed.pages = {}
    assert.equal(await pages.history(3, RANGE), undefined)
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
    await assert.rejects(pages.history(3, RANGE), FeedUnavailableError)
    await assert.rejects(createFeedPages('http://127.0.0.1:1').snapshot(), FeedUnavailableError)
  })
})
