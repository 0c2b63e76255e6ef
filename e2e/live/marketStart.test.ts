import type { MarketRecord, Position } from '@bezel/protocol'
import { ownDetails } from '@bezel/testkit/ownDetails.ts'
import { createChainClient, type ChainClient } from '@bezel/testkit/chainClient.ts'
import { startStandInFeed, type StandInFeed } from '@bezel/testkit/standInFeed.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { startService, type RunningService } from '@bezel/testkit/startService.ts'
import { authorize, createTradingClient } from '@bezel/testkit/tradingClient.ts'
import { until } from '@bezel/testkit/until.ts'
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { PAIRS } from '../../packages/devnet/src/listing/pairs.ts'
import { startOutageProxy, type OutageProxy } from '../markets/outageProxy.ts'

const CHAIN = 'arbitrum-sepolia'
/** Page of the backend with the flags of all groups. */
const FLAGS_PATH = '/trading-variables/isForexOpen,isStocksOpen,isIndicesOpen,isCommoditiesOpen'
/** Pause between two repairs of candles, by default. */
const REPAIR_PAUSE_MS = 1_100
const SYMBOLS = PAIRS.map(({ from, to }) => `${from}/${to}`)

const isHistory = (path: string): boolean => /^\/charts\/\d+\//.test(path)

describe('a start on a feed as the live one is', () => {
  let devnet: RunningDevnet
  let chain: ChainClient
  let feed: OutageProxy
  let backend: StandInFeed
  let service: RunningService
  const flags = { isForexOpen: true, isStocksOpen: true, isIndicesOpen: true, isCommoditiesOpen: true }

  before(async () => {
    devnet = await startDevnet({ DEVNET_BLOCK_MS: '100' })
    chain = createChainClient(devnet.file)
    feed = await startOutageProxy(devnet.file.feedUrl.replace(/\/$/, ''))
    backend = await startStandInFeed({ [FLAGS_PATH]: () => flags })
    await chain.control('bezel_sleepPrice', 'AVAX/USD', false)
    await chain.control('bezel_hidePrice', 'AVAX/USD', true)
    await chain.control('bezel_breakHistory', 'BTC/USD', true)
    // As on the live feed, nothing says which pairs are open, and history is not to be had while the service starts.
    feed.refusal = (path) => (isHistory(path) ? 500 : path === '/market-status' ? 404 : undefined)
    service = await start()
  })
  after(async () => {
    await service?.stop()
    await Promise.all([feed?.close(), backend?.close(), devnet?.stop()])
  })

  function start(): Promise<RunningService> {
    const chainsFile = join(devnet.folder, 'live.json')
    const served = { ...devnet.file.chains[CHAIN], backendUrl: backend.url }
    writeFileSync(chainsFile, JSON.stringify({ chains: { [CHAIN]: served }, feedUrl: feed.url }))
    return startService(devnet, {
      BEZEL_CHAINS_FILE: chainsFile,
      BEZEL_IP_LIMIT: '1000000',
      BEZEL_MARKETS_REFRESH_MS: '200',
      BEZEL_MARKET_STATUS_MS: '100',
    })
  }

  async function get<Body>(path: string): Promise<{ status: number; body: Body }> {
    const answer = await fetch(service.url + path)
    return { status: answer.status, body: (await answer.json()) as Body }
  }

  /** Reads the markets once they are fresh: on a busy machine the feed is late at times. */
  function markets(): Promise<MarketRecord[]> {
    return until('fresh markets', async () => {
      const { status, body } = await get<{ data: MarketRecord[] }>(`/v1/${CHAIN}/markets`)
      return status === 200 ? body.data : undefined
    })
  }

  async function symbols(): Promise<string[]> {
    return (await markets()).map(({ symbol }) => symbol)
  }

  async function market(symbol: string): Promise<MarketRecord | undefined> {
    return (await markets()).find((record) => record.symbol === symbol)
  }

  async function netOf(user: string): Promise<{ positionValue: string }[]> {
    const answer = await fetch(`${service.url}/hl/${CHAIN}/info`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'clearinghouseState', user }),
    })
    const { assetPositions } = (await answer.json()) as {
      assetPositions: { position: { positionValue: string } }[]
    }
    return assetPositions.map(({ position }) => position)
  }

  async function leftOut(): Promise<readonly string[] | undefined> {
    const { body } = await get<{ chains: Record<string, { marketsLeftOut?: string[] }> }>('/ready')
    return body.chains[CHAIN]?.marketsLeftOut
  }

  it('is ready without a page of history, with every pair that has a price', async () => {
    assert.deepEqual(
      await symbols(),
      SYMBOLS.filter((symbol) => symbol !== 'AVAX/USD'),
    )
    const { pricePrecision, sizePrecision } = (await market('BTC/USD'))!
    assert.deepEqual([pricePrecision, sizePrecision], [2, 5])
  })

  it('names the pair that it leaves out, and refuses it alone', async () => {
    assert.deepEqual(await leftOut(), ['AVAX/USD'])
    assert.equal((await get(`/v1/${CHAIN}/markets/AVAX-USD`)).status, 404)
    const metrics = await (await fetch(`${service.url}/metrics`)).text()
    assert.match(metrics, /^bezel_markets_left_out\{chain="arbitrum-sepolia"\} 1$/m)
    const meta = await fetch(`${service.url}/hl/${CHAIN}/info`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"type":"meta"}',
    })
    const { universe } = (await meta.json()) as { universe: { name: string; isDelisted?: boolean }[] }
    assert.equal(universe.find(({ name }) => name === 'AVAX')?.isDelisted, true)
  })

  it('lists the pair as soon as it has a price, and keeps its precision for ever', async () => {
    await chain.control('bezel_hidePrice', 'AVAX/USD', false)
    const first = await until('AVAX is listed', () => market('AVAX/USD'))
    assert.deepEqual([await leftOut(), await symbols()], [undefined, SYMBOLS])
    await service.stop()
    await chain.control('bezel_hidePrice', 'AVAX/USD', true)
    service = await start()
    assert.deepEqual(await leftOut(), ['AVAX/USD'], 'it has a reference price, and no price now')
    assert.equal((await symbols()).includes('AVAX/USD'), false)
    await chain.control('bezel_setPrice', 'AVAX/USD', '1600')
    await chain.control('bezel_hidePrice', 'AVAX/USD', false)
    const again = await until('AVAX is listed again', () => market('AVAX/USD'))
    assert.deepEqual(
      [again.pricePrecision, again.sizePrecision],
      [first.pricePrecision, first.sizePrecision],
      'whatever the price is by now',
    )
  })

  it('values and closes a position of which nobody has said a price since the start, and opens none', async () => {
    const [trader, agent] = [chain.account('trader-1'), chain.account('agent-1')]
    const at = { devnet, chain, url: () => service.url }
    await authorize(at, trader, agent)
    const client = await createTradingClient(at, trader, agent)
    const order = { market: 'AVAX/USD', side: 'long', type: 'market', size: '2', leverage: '5' }
    await client.trade(order, 'filled')
    const held = async (): Promise<Position | undefined> =>
      (await client.account('/positions', 'listPositions')).body.data?.[0]
    await chain.control('bezel_freezePrice', 'AVAX/USD', true)
    const saidAtMs = Date.now()
    await chain.control('bezel_setPrice', 'AVAX/USD', '1700')
    const { id } = await until('the price is known', async (saw) => {
      const position = await held()
      saw(position)
      return position?.markPrice === '1700' ? position : undefined
    })
    await service.stop()
    const stoppedAtMs = Date.now()
    await chain.control('bezel_sleepPrice', 'AVAX/USD', true)
    await chain.control('bezel_hidePrice', 'AVAX/USD', true)
    service = await start()
    assert.deepEqual(await leftOut(), ['AVAX/USD'])

    const valued = (await held())!
    assert.deepEqual([valued.id, valued.markPrice], [id, '1700'])
    // Until it stopped, the service went on hearing the frozen price.
    const age = `${valued.priceAt}, between ${saidAtMs} and ${stoppedAtMs}`
    assert.ok(valued.priceAt >= saidAtMs && valued.priceAt <= stoppedAtMs, `as old as it is: ${age}`)
    const [net] = await netOf(trader.address)
    assert.ok(
      Math.abs(Number(net?.positionValue) - 2 * 1_700) < 10,
      `at 1700 and not at its entry: ${net?.positionValue}`,
    )
    const opened = await client.request('createOrder', 'POST', '/orders', order)
    const missing = { reason: 'feed_stale', market: 'AVAX/USD' }
    assert.deepEqual([opened.status, ownDetails(opened.body.details)], [503, missing])
    await until('the price is old', async (saw) => {
      const { status, body } = await client.account(`/preview/close/${id}`, 'previewClose')
      saw(body)
      return status === 200 && body.warnings?.[0]?.code === 'price_old'
    })
    const close = await client.request('closePosition', 'POST', `/positions/${id}/close`, {})
    assert.deepEqual([close.status, close.body.warnings?.[0]?.value], [200, '1700'], JSON.stringify(close.body))
    await client.broadcast(close.body.transaction)
    await client.orderOnce(close.body.order.id, ({ status }) => status === 'filled')
    assert.equal(await held(), undefined)
    await chain.control('bezel_sleepPrice', 'AVAX/USD', false)
    await chain.control('bezel_hidePrice', 'AVAX/USD', false)
  })

  it('repairs candles with less than one request a second, past the pair whose history is broken', async () => {
    await service.stop()
    feed.refusal = (path) => (path === '/market-status' ? 404 : undefined)
    feed.asked.length = 0
    const startedAtMs = Date.now()
    service = await start()
    const repairs = () => feed.asked.filter(({ path }) => isHistory(path))
    await until('some repairs', () => repairs().length >= 6)
    // A request arrives after it was sent, so counted from before the start none can be too early.
    for (const [at, { atMs }] of repairs().entries()) assert.ok(atMs - startedAtMs >= at * (REPAIR_PAUSE_MS - 100))
    const pairs = repairs().map(({ path }) => path.split('/')[2])
    assert.ok(new Set(pairs).size > 1 || !pairs.includes('0'), `not only the broken one: ${pairs.join(', ')}`)
    const minuteMs = Math.floor(Date.now() / 60_000) * 60_000
    const candles = await get<{ data: unknown[] }>(`/v1/${CHAIN}/markets/BTC-USD/candles?interval=1m&from=${minuteMs}`)
    assert.equal(candles.status, 200)
    assert.ok(candles.body.data.length > 0, 'of the broken one, what was heard')
  })

  it('is open and closed as the backend of the chain says', async () => {
    const isOpen = async (): Promise<boolean[]> => {
      const listed = new Map((await markets()).map((record) => [record.symbol, record.isOpen]))
      return ['BTC/USD', 'EUR/USD', 'AAPL/USD', 'SPY/USD', 'XAU/USD'].map((symbol) => listed.get(symbol)!)
    }
    const untilOpen = (wanted: readonly boolean[]) =>
      until(`open: ${wanted.join()}`, async (saw) => {
        const open = await isOpen()
        saw(open)
        return open.join() === wanted.join()
      })
    await untilOpen([true, true, true, true, true])
    Object.assign(flags, { isForexOpen: false, isStocksOpen: false, isIndicesOpen: false, isCommoditiesOpen: false })
    await untilOpen([true, false, false, false, false])
    Object.assign(flags, { isStocksOpen: true, isCommoditiesOpen: true })
    await untilOpen([true, false, true, false, true])
  })
})
