import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { after, before, describe, it } from 'node:test'
import { startStandInFeed, type StandInFeed } from '@bezel/testkit/standInFeed.ts'
import { checkBackend, checkFeed } from './checkFeed.ts'
import { listenTo } from './sockets.ts'

describe('listenTo', () => {
  it('ends at an address that no socket can have', async () => {
    const heard = await listenTo({ url: 'ws://127.0.0.1:1/#part', waitMs: 1_000, look: () => true })
    assert.deepEqual([heard.kind, heard.kind === 'closed' && /fragment/.test(heard.words)], ['closed', true])
  })
})

describe('the feed and the backend', () => {
  let feed: StandInFeed
  let beats: NodeJS.Timeout

  before(async () => {
    feed = await startStandInFeed()
    beats = setInterval(() => feed.send('[1794956400000]'), 20)
  })
  after(async () => {
    clearInterval(beats)
    await feed?.close()
  })

  const marksOf = ({ section }: Awaited<ReturnType<typeof checkFeed>>) => section.findings.map(({ mark }) => mark)

  it('are well with a heartbeat and prices', async () => {
    feed.pages = { '/charts': () => ({ closes: [50_000, null, 3_000.5], indexPrices: [] }) }
    const checked = await checkFeed(feed.url, Date.now)
    assert.deepEqual(marksOf(checked), ['ok', 'ok'])
    assert.deepEqual([...checked.prices!.keys()], [0, 2])
    assert.match(checked.section.findings[1]!.text, /a price of 2 pairs/)
    assert.equal(typeof checked.clock?.aheadMs, 'number')
  })

  it('fail without prices, one by one', async () => {
    feed.pages = { '/charts': () => ({ closes: [] }) }
    const checked = await checkFeed(feed.url, Date.now)
    assert.deepEqual([marksOf(checked), checked.prices], [['ok', 'failure'], undefined])
    assert.match(checked.section.findings[1]!.text, /answered \/charts without a price\): correct feedUrl/)
  })

  it('warn where the backend does not say what is open, and name its host only', async () => {
    const path = '/trading-variables/isForexOpen,isStocksOpen,isIndicesOpen,isCommoditiesOpen'
    const { host } = new URL(feed.url)
    feed.pages = { [path]: () => ({ isForexOpen: true, isStocksOpen: false }) }
    assert.deepEqual(await checkBackend(feed.url), {
      check: 'backend',
      mark: 'ok',
      text: `The backend (${host}) says what is open of forex, stocks.`,
    })
    feed.pages = {}
    assert.equal((await checkBackend(feed.url)).mark, 'warning')
    const gone = createServer()
    await new Promise<void>((listening) => gone.listen(0, '127.0.0.1', listening))
    const { port } = gone.address() as { readonly port: number }
    gone.close()
    const { mark, text } = await checkBackend(`http://127.0.0.1:${port}`)
    assert.equal(mark, 'warning')
    assert.match(
      text,
      /^The backend \(127\.0\.0\.1:\d+\) does not say what is open \(it did not answer\): the trading hours/,
    )
  })
})
