import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { get, type IncomingHttpHeaders } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { buffer } from 'node:stream/consumers'
import { after, before, describe, it } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import {
  diamondAbi,
  formatDecimal,
  MarketSchema,
  parseDecimal,
  scaleDecimal,
  StartupError,
  type ChainInfo,
  type Funding,
  type MarketRecord,
  type MarketPrice,
} from '@bezel/protocol'
import { Value } from '@sinclair/typebox/value'
import { zeroAddress, type ContractFunctionArgs, type ContractFunctionName } from 'viem'
import { GROUPS } from '../packages/devnet/src/listing/groups.ts'
import { PAIRS } from '../packages/devnet/src/listing/pairs.ts'
import { until } from '@bezel/testkit/until.ts'
import { keyIssue, send } from '@bezel/testkit/agentClient.ts'
import { createChainClient, tradeOf, type ChainClient } from '@bezel/testkit/chainClient.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import {
  CHAIN,
  startMarketService,
  untilReady,
  type Addresses,
  type Answer,
  type MarketService,
} from './markets/marketService.ts'
import { startOutageProxy, type OutageProxy } from './markets/outageProxy.ts'

type View = ContractFunctionName<typeof diamondAbi, 'view' | 'pure'>
type Refusal = { code: string; details: { reason: string } }

const HOUR_MS = 3_600_000
const MARKETS = `/v1/${CHAIN}/markets`
const PRICES = `/v1/${CHAIN}/prices`
const market = (symbol: string) => `${MARKETS}/${symbol}`

describe('markets, as a client sees them', () => {
  let devnet: RunningDevnet
  let chain: ChainClient
  let node: OutageProxy
  let feed: OutageProxy
  let service: MarketService
  const folder = mkdtempSync(join(tmpdir(), 'bezel-markets-'))

  before(async () => {
    devnet = await startDevnet({ DEVNET_BLOCK_MS: '100', DEVNET_ORACLE_DELAY_MS: '100' })
    chain = createChainClient(devnet.file)
    node = await startOutageProxy(devnet.file.chains[CHAIN]!.rpcUrl)
    feed = await startOutageProxy(devnet.file.feedUrl)
    service = await startMarketService(devnet.file, addresses(), folder)
    await untilReady(service)
  })
  after(async () => {
    await service?.close()
    await Promise.all([node?.close(), feed?.close(), devnet?.stop()])
    rmSync(folder, { recursive: true, force: true })
  })

  const addresses = (): Addresses => ({ rpcUrl: node.url, feedUrl: feed.url })

  async function view<N extends View>(
    functionName: N,
    args: ContractFunctionArgs<typeof diamondAbi, 'view' | 'pure', N>,
  ) {
    return chain.client.readContract({ address: chain.diamond, abi: diamondAbi, functionName, args } as never) as never
  }

  /** Reads once the chain and the feed are fresh: on a busy machine both fall behind at times. */
  function getWhenFresh<T>(path: string): Promise<Answer<T>> {
    return until(`${path} is fresh`, async () => {
      const answer = await service.get<T>(path)
      return answer.status === 503 ? undefined : answer
    })
  }

  /** Reads the bytes as they come over the wire, in the same way. */
  function raw(path: string, headers: Readonly<Record<string, string>> = {}): Promise<RawAnswer> {
    return until(`${path} is fresh`, async () => {
      const answer = await rawGet(service.url + path, headers)
      return answer.status === 503 ? undefined : answer
    })
  }

  async function markets(): Promise<MarketRecord[]> {
    const { status, body } = await getWhenFresh<{ data: MarketRecord[] }>(MARKETS)
    assert.equal(status, 200)
    return body.data
  }

  async function markOf(symbol: string): Promise<string | undefined> {
    const { body } = await getWhenFresh<{ data: MarketPrice[] }>(PRICES)
    return body.data.find((price) => price.market === symbol)?.mark
  }

  function assertNotReady(answer: Answer<Refusal>, reason: string, path: string): void {
    const { status, headers, body } = answer
    assert.deepEqual([status, body.code, body.details.reason], [503, 'NOT_READY', reason], path)
    assert.equal(headers.get('retry-after'), '1')
  }

  it('lists every pair that can be traded, and none that is closed to new trades', async () => {
    const listed = await markets()
    assert.deepEqual(
      listed.map(({ symbol, pairIndex, groupIndex, feeIndex }) => ({ symbol, pairIndex, groupIndex, feeIndex })),
      PAIRS.map(({ from, to, index, groupIndex, feeIndex }) => ({
        symbol: `${from}/${to}`,
        pairIndex: index,
        groupIndex,
        feeIndex,
      })),
    )
    for (const record of listed) {
      assert.ok(Value.Check(MarketSchema, record), record.symbol)
      assert.ok(GROUPS[record.groupIndex]!.name.startsWith(record.group === 'crypto' ? '' : record.group))
    }
    const { collaterals } = devnet.file.chains[CHAIN]!
    assert.deepEqual(listed[0]?.collaterals, collaterals)
  })

  it('says what the contracts say: leverage, spread, fees and minimums', async () => {
    for (const record of await markets()) {
      const pair = BigInt(record.pairIndex)
      const minFeeUsd: bigint = await view('pairMinFeeUsd', [pair])
      const minLeverage: bigint = await view('pairMinLeverage', [pair])
      assert.equal(record.minCollateralUsd, formatDecimal(5n * minFeeUsd, 18))
      assert.equal(record.minPositionUsd, formatDecimal(5n * minFeeUsd * minLeverage, 21))
      assert.equal(record.minLeverage, formatDecimal(minLeverage, 3))
      assert.equal(record.maxLeverage, formatDecimal(await view('pairMaxLeverage', [pair]), 3))
      assert.equal(record.spreadRate, formatDecimal(await view('pairSpreadP', [zeroAddress, pair]), 12))
      assert.equal(record.fees.openFeeRate, formatDecimal(await view('pairTotalPositionSizeFeeP', [pair]), 12))
      assert.equal(record.fees.minPositionSizeUsd, formatDecimal(await view('pairMinPositionSizeUsd', [pair]), 18))
    }
  })

  it('has the precisions that its reference price gives', async () => {
    const bySymbol = new Map((await markets()).map((record) => [record.symbol, record]))
    const precision = (symbol: string) => {
      const { pricePrecision, sizePrecision } = bySymbol.get(symbol)!
      return [pricePrecision, sizePrecision]
    }
    assert.deepEqual(precision('BTC/USD'), [2, 5])
    assert.deepEqual(precision('ETH/USD'), [2, 4])
    assert.deepEqual(precision('EUR/USD'), [5, 1])
    assert.deepEqual(precision('DOGE/USD'), [6, 0])
    assert.deepEqual(precision('SHIB/USD'), [10, 0])
  })

  it('takes a market in both spellings, and refuses what there is not', async () => {
    for (const symbol of ['BTC-USD', 'BTC%2FUSD']) {
      const { status, body } = await getWhenFresh<MarketRecord>(market(symbol))
      assert.deepEqual([status, body.symbol, body.pairIndex], [200, 'BTC/USD', 0])
    }
    const refused = async (path: string) => (await getWhenFresh<Refusal>(path)).body.code
    assert.equal(await refused(market('DELISTED4-USD')), 'MARKET_NOT_FOUND')
    assert.equal(await refused(`${market('NOPE-USD')}/funding`), 'MARKET_NOT_FOUND')
    assert.equal(await refused('/v1/base/markets'), 'CHAIN_NOT_FOUND')
    assert.equal(await refused('/v1/mars/prices'), 'CHAIN_NOT_FOUND')
  })

  it('follows the prices, those with an exponent and those of closed markets too', async () => {
    const prices = { 'BTC/USD': '61234.5', 'SHIB/USD': '0.0000001234', 'EUR/USD': '1.2345' }
    await chain.control('bezel_setMarketOpen', 'EUR/USD', false)
    for (const [symbol, price] of Object.entries(prices)) {
      await chain.control('bezel_freezePrice', symbol, true)
      await chain.control('bezel_setPrice', symbol, price)
      await until(`${symbol} at ${price}`, async () => (await markOf(symbol)) === price)
    }
    const { body } = await getWhenFresh<{ data: MarketPrice[] }>(PRICES)
    assert.equal(body.data.length, PAIRS.length)
    const volatile = body.data.find((price) => price.market === 'PEPE/USD')!
    assert.notEqual(volatile.index, volatile.mark)
  })

  it('says whether a market is open, as the upstream does', async () => {
    const isOpen = async () => (await getWhenFresh<MarketRecord>(market('EUR-USD'))).body.isOpen
    for (const open of [true, false]) {
      await chain.control('bezel_setMarketOpen', 'EUR/USD', open)
      await until(`EUR/USD open: ${open}`, async () => (await isOpen()) === open)
    }
  })

  it('shows funding as the view functions do, and never null', async () => {
    const usdc = chain.collateral('USDC').index
    for (const { funding } of await markets()) for (const value of Object.values(funding)) assert.notEqual(value, null)

    const trader = chain.account('trader-1')
    const trade = tradeOf(chain, trader.address, { price: 61_235n, collateral: 50_000_000_000n, leverage: 20_000 })
    await chain.send(trader, 'openTrade', [trade, 1_000, zeroAddress])
    await chain.event((event) => event.eventName === 'MarketExecuted')
    // After an hour of one-sided open interest the rate is at its cap, so it is the same in every later block.
    await chain.control('evm_increaseTime', 3_600)
    await chain.control('evm_mine')

    const price = scaleDecimal(parseDecimal('61234.5')!, 10)!
    const [, , ratePerSecond]: [bigint, bigint, bigint] = await view('getPairPendingAccFundingFees', [usdc, 0, price])
    const tokens: { oiLongToken: bigint; oiShortToken: bigint } = await view('getPairOiAfterV10Token', [usdc, 0])
    const [borrowing]: { borrowingRatePerSecondP: number }[] = await view('getPairBorrowingFeeParams', [[usdc], [0]])
    assert.ok(ratePerSecond > 0n && tokens.oiLongToken > 0n)
    const longUsd = formatDecimal((tokens.oiLongToken * price) / 10n ** 22n, 6)
    const funding = await until('the trade is seen', async () => {
      const { body } = await getWhenFresh<Funding>(`${market('BTC-USD')}/funding`)
      return body.fundingRateLongHourly === formatDecimal(ratePerSecond * 3_600n, 18) && body
    })
    assert.deepEqual(funding, {
      fundingRateLongHourly: formatDecimal(ratePerSecond * 3_600n, 18),
      fundingRateShortHourly: '0',
      borrowingRateHourly: formatDecimal(BigInt(borrowing!.borrowingRatePerSecondP) * 3_600n, 10),
      openInterestLongUsd: longUsd,
      openInterestShortUsd: '0',
      skewUsd: longUsd,
      market: 'BTC/USD',
    })
  })

  it('takes a fraction of the bytes where it is the same for everybody, and none where it is known', async (t) => {
    const candles = `${market('BTC-USD')}/candles?interval=1m&to=${Date.now() - HOUR_MS}`
    const documents = ['/openapi.json', '/asyncapi.json', '/docs/rest', '/docs/docs.js', '/llms-full.txt']
    for (const path of [MARKETS, PRICES, candles, ...documents]) {
      const plain = await raw(path)
      assert.deepEqual([plain.headers['content-encoding'], plain.headers.vary], [undefined, 'Accept-Encoding'], path)
      const sizes = [plain.bytes.length]
      for (const [coding, decompress] of Object.entries({ gzip: gunzipSync, br: brotliDecompressSync })) {
        const { headers, bytes } = await raw(path, { 'accept-encoding': coding })
        assert.deepEqual([headers['content-encoding'], headers['content-length']], [coding, String(bytes.length)], path)
        assert.ok(bytes.length * 2 < plain.bytes.length, `${path}: ${bytes.length} of ${plain.bytes.length} bytes`)
        const same = decompress(bytes)
        const isTicking = path === MARKETS || path === PRICES
        if (isTicking) assert.equal(JSON.parse(same.toString()).data.length, PAIRS.length)
        else assert.deepEqual(same, plain.bytes, path)
        sizes.push(bytes.length)
      }
      t.diagnostic(`${path}: ${sizes.join(', ')} bytes (plain, gzip, br)`)
    }

    for (const path of [MARKETS, candles, ...documents]) {
      const { headers, bytes } = await until(`${path} stays the same`, async () => {
        const { etag } = (await raw(path)).headers
        const answer = await raw(path, { 'if-none-match': etag! })
        return answer.status === 304 ? answer : undefined
      })
      assert.equal(bytes.length, 0)
      assert.ok(headers.etag !== undefined && headers['ratelimit-remaining'] !== undefined, path)
    }
  })

  it('is never compressed where it is about somebody', async () => {
    const forced = { 'accept-encoding': 'gzip, br, identity;q=0' }
    const { domain } = (await service.get<ChainInfo>(`/v1/${CHAIN}`)).body.signing
    const trader = chain.account('trader-1')
    const asked = await keyIssue(domain, trader, 'bytes')
    const { apiKey } = (await send(service.url, 'POST', `/v1/${CHAIN}/api-keys`, asked)).body
    const account = `/v1/${CHAIN}/account/${trader.address}`
    const own = { ...forced, 'x-service-api-key': String(apiKey) }
    for (const path of [account, `${account}/positions`, `${account}/fills`, `${account}/events?limit=500`]) {
      const { status, headers } = await raw(path, own)
      const { 'content-encoding': coding, etag, 'cache-control': cache } = headers
      assert.deepEqual([status, coding, etag, cache], [200, undefined, undefined, 'no-store'], path)
    }
    const facade = await send(service.url, 'POST', `/hl/${CHAIN}/info`, { type: 'meta' })
    assert.equal(facade.headers.get('content-encoding'), null)
  })

  it('goes on with prices while the node is away, and comes back', async () => {
    node.isDown = true
    const lagging = [MARKETS, market('BTC-USD'), `${market('BTC-USD')}/funding`]
    await until('lagging', async () => (await service.get(MARKETS)).status === 503)
    for (const path of lagging) assertNotReady(await service.get(path), 'chain_lagging', path)
    for (const path of [PRICES, `/v1/${CHAIN}`, '/health']) assert.equal((await service.get(path)).status, 200, path)
    assert.equal((await service.get('/ready')).status, 503)
    node.isDown = false
    await untilReady(service)
    assert.equal((await markets()).length, PAIRS.length)
  })

  it('refuses to show prices of a silent feed, and goes on with what needs none', async () => {
    feed.isSilent = true
    const stale = [PRICES, MARKETS, market('BTC-USD'), market('EUR-USD'), `${market('BTC-USD')}/funding`]
    await until('stale', async () => (await service.get(PRICES)).status === 503)
    for (const path of stale) assertNotReady(await service.get(path), 'feed_stale', path)
    assert.equal((await service.get(`/v1/${CHAIN}`)).status, 200)
    assert.equal((await service.get('/ready')).status, 503)
    feed.isSilent = false
    await untilReady(service)
    assert.equal((await getWhenFresh(PRICES)).status, 200)
  })

  it('keeps its reference prices for ever', async () => {
    const first = (await markets()).map(({ symbol, pricePrecision, sizePrecision }) => ({
      symbol,
      pricePrecision,
      sizePrecision,
    }))
    await service.close()
    service = await startMarketService(devnet.file, addresses(), folder)
    await untilReady(service)
    const again = await markets()
    for (const [at, expected] of first.entries()) {
      const { symbol, pricePrecision, sizePrecision } = again[at]!
      assert.deepEqual({ symbol, pricePrecision, sizePrecision }, expected)
    }

    await service.close()
    const database = new DatabaseSync(join(folder, 'service', 'bezel.db'))
    database.exec("update reference_prices set price = '9.99' where pair_index = 0")
    database.close()
    service = await startMarketService(devnet.file, addresses(), folder)
    await untilReady(service)
    const { body } = await getWhenFresh<MarketRecord>(market('BTC-USD'))
    assert.deepEqual([body.pricePrecision, body.sizePrecision], [5, 1], 'from the store, not from the feed')
  })

  it('refuses another chain under the same data', async () => {
    await service.close()
    const other = await startDevnet()
    try {
      const { rpcUrl } = other.file.chains[CHAIN]!
      const started = startMarketService(other.file, { rpcUrl, feedUrl: other.file.feedUrl }, folder)
      await assert.rejects(started, (error: Error) => {
        assert.ok(error instanceof StartupError, error.stack)
        assert.match(error.message, /^The data is of another arbitrum-sepolia: its (first block|Diamond) is 0x/)
        return true
      })
    } finally {
      await other.stop()
    }
    service = await startMarketService(devnet.file, addresses(), folder)
    await untilReady(service)
  })
})

/** An answer as it came over the wire. */
interface RawAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
}

/** Sends a GET with these headers alone. Unlike `fetch` it asks for no compression by itself and undoes none. */
function rawGet(url: string, headers: Readonly<Record<string, string>> = {}): Promise<RawAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>()
  get(url, { headers: { ...headers } }, (answer) => {
    buffer(answer).then((bytes) => resolve({ status: answer.statusCode!, headers: answer.headers, bytes }), reject)
  }).on('error', reject)
  return promise
}
