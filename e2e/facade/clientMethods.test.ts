import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { HttpTransport, InfoClient, SubscriptionClient, WebSocketTransport } from '@nktkas/hyperliquid'
import { until } from '@bezel/testkit/until.ts'
import { ccxtOf, SYMBOL } from './ccxtClient.ts'
import { startFacadeWorld, type FacadeWorld } from './facadeWorld.ts'

// Every method that public clients have for reading, called once. The methods are those that the clients themselves
// list, so a new version of a client with a new method fails here until its type is answered.

type Methods<Client> = { readonly [Name in Exclude<keyof Client, 'config_'>]: unknown }

/** Lists the methods of a class. */
const methodsOf = (of: { readonly prototype: object }): string[] =>
  Object.getOwnPropertyNames(of.prototype).filter((name) => name !== 'constructor')

/** Calls a method by its name. Returns the error when it fails. */
async function callMethod(client: object, name: string, of: readonly unknown[]): Promise<unknown> {
  const method = Reflect.get(client, name) as (...of: readonly unknown[]) => Promise<unknown>
  return method.apply(client, [...of]).catch((error: unknown) => error)
}

const LIMIT = { market: 'BTC/USD', side: 'long', type: 'limit', size: '0.02', leverage: '10', price: '50000' } as const

describe('the methods of public clients', () => {
  let world: FacadeWorld
  let oid: number
  const user = () => world.chain.account('trader-1').address

  before(async () => {
    world = await startFacadeWorld()
    const client = await world.clientOf('trader-1', 'trader-1')
    oid = Number((await client.trade(LIMIT, 'open')).id)
  })
  after(() => world?.stop())

  /** The parameters of every method of nktkas' info client; `null` for a method without any. */
  function infoParameters(): Methods<InfoClient> {
    const ofUser = { user: user() }
    const sinceStart = { ...ofUser, startTime: 0 }
    return {
      activeAssetData: { ...ofUser, coin: 'BTC' },
      allBorrowLendReserveStates: null,
      allMids: null,
      allPerpMetas: null,
      approvedBuilders: ofUser,
      borrowLendReserveState: { token: 0 },
      borrowLendUserState: ofUser,
      candleSnapshot: { coin: 'BTC', interval: '1h', startTime: 0 },
      clearinghouseState: ofUser,
      delegations: ofUser,
      delegatorHistory: ofUser,
      delegatorRewards: ofUser,
      delegatorSummary: ofUser,
      exchangeStatus: null,
      extraAgents: ofUser,
      frontendOpenOrders: ofUser,
      fundingHistory: { coin: 'BTC', startTime: 0 },
      gossipPriorityAuctionStatus: null,
      gossipRootIps: null,
      historicalOrders: ofUser,
      isVip: ofUser,
      l2Book: { coin: 'BTC' },
      leadingVaults: ofUser,
      legalCheck: ofUser,
      liquidatable: null,
      marginTable: { id: 150 },
      maxBuilderFee: { ...ofUser, builder: user() },
      maxMarketOrderNtls: null,
      meta: null,
      metaAndAssetCtxs: null,
      openOrders: ofUser,
      orderStatus: { ...ofUser, oid },
      outcomeMeta: null,
      outcomeTemplates: null,
      perpAnnotation: { coin: 'BTC' },
      perpCategories: null,
      perpConciseAnnotations: null,
      perpDeployAuctionStatus: null,
      perpDexLimits: { dex: 'test' },
      perpDexStatus: { dex: 'test' },
      perpDexs: null,
      perpsAtOpenInterestCap: null,
      portfolio: ofUser,
      preTransferCheck: { ...ofUser, source: user() },
      predictedFundings: null,
      recentTrades: { coin: 'BTC' },
      referral: ofUser,
      settledOutcome: { outcome: 1 },
      spotClearinghouseState: ofUser,
      spotDeployState: ofUser,
      spotMeta: null,
      spotMetaAndAssetCtxs: null,
      spotPairDeployAuctionStatus: null,
      subAccounts: ofUser,
      subAccounts2: ofUser,
      tokenDetails: { tokenId: `0x${'0'.repeat(32)}` },
      twapHistory: ofUser,
      usdcRouting: null,
      userAbstraction: ofUser,
      userBorrowLendInterest: sinceStart,
      userDexAbstraction: ofUser,
      userFees: ofUser,
      userFills: ofUser,
      userFillsByTime: sinceStart,
      userFunding: sinceStart,
      userNonFundingLedgerUpdates: sinceStart,
      userRateLimit: ofUser,
      userRole: ofUser,
      userToMultiSigSigners: ofUser,
      userTwapSliceFills: ofUser,
      userTwapSliceFillsByTime: sinceStart,
      userVaultEquities: ofUser,
      validatorL1Votes: null,
      validatorSummaries: null,
      vaultDetails: { vaultAddress: user() },
      vaultSummaries: null,
      webData2: ofUser,
    }
  }

  it('of nktkas that read, over HTTP and over a socket', async () => {
    const parameters = infoParameters() as Readonly<Record<string, unknown>>
    assert.deepEqual(Object.keys(parameters).toSorted(), methodsOf(InfoClient).toSorted())
    const socket = new WebSocketTransport({ url: world.socketUrl })
    for (const transport of [new HttpTransport({ apiUrl: `${world.base}/` }), socket]) {
      const info = new InfoClient({ transport })
      for (const [name, of] of Object.entries(parameters)) {
        const answer = await callMethod(info, name, of === null ? [] : [of])
        assert.ok(!(answer instanceof Error), `${name}: ${String(answer)}`)
        assert.notEqual(answer, undefined, name)
      }
    }
    await socket.close()
  })

  it('of nktkas that read what there is, with data', async () => {
    const info = new InfoClient({ transport: new HttpTransport({ apiUrl: `${world.base}/` }) })
    const { universe, marginTables } = await info.meta()
    const [id, table] = marginTables[0]!
    assert.deepEqual(await info.marginTable({ id }), table)
    const [, contexts] = await info.metaAndAssetCtxs()
    const [coin, [[venue, funding]]] = (await info.predictedFundings())[0] as never as [string, [[string, object]]]
    assert.deepEqual([coin, venue], ['BTC', 'HlPerp'])
    assert.equal((funding as { fundingRate: string }).fundingRate, contexts[0]!.funding)
    const page = await info.webData2({ user: user() })
    assert.deepEqual(page.meta.universe, universe)
    assert.deepEqual(
      page.openOrders.map((order) => order.oid),
      [oid],
    )
    assert.deepEqual(await info.perpAnnotation({ coin: 'BTC' }), { category: 'crypto', description: 'BTC/USD' })
    assert.ok((await info.perpCategories()).some(([name, category]) => name === 'BTC' && category === 'crypto'))
  })

  it('of nktkas that subscribe', async () => {
    const ofUser = { user: user() }
    const parameters: Methods<SubscriptionClient> = {
      activeAssetCtx: { coin: 'BTC' },
      activeAssetData: { ...ofUser, coin: 'BTC' },
      activeSpotAssetCtx: { coin: 'BTC' },
      allDexsAssetCtxs: null,
      allDexsClearinghouseState: ofUser,
      allMids: null,
      assetCtxs: null,
      bbo: { coin: 'BTC' },
      candle: { coin: 'BTC', interval: '1m' },
      clearinghouseState: ofUser,
      fastAssetCtxs: null,
      l2Book: { coin: 'BTC' },
      notification: ofUser,
      openOrders: ofUser,
      orderUpdates: ofUser,
      outcomeMetaUpdates: null,
      spotAssetCtxs: null,
      spotState: ofUser,
      trades: { coin: 'BTC' },
      twapStates: ofUser,
      userEvents: ofUser,
      userFills: ofUser,
      userFundings: ofUser,
      userHistoricalOrders: ofUser,
      userNonFundingLedgerUpdates: ofUser,
      userTwapHistory: ofUser,
      userTwapSliceFills: ofUser,
      webData3: ofUser,
    }
    assert.deepEqual(Object.keys(parameters).toSorted(), methodsOf(SubscriptionClient).toSorted())
    const socket = new WebSocketTransport({ url: world.socketUrl })
    const client = new SubscriptionClient({ transport: socket })
    const told = new Map<string, unknown>()
    for (const [name, of] of Object.entries(parameters)) {
      const listener = (data: unknown): void => void told.set(name, data)
      const begun = await callMethod(client, name, [...(of === null ? [] : [of]), listener])
      assert.ok(!(begun instanceof Error), `${name}: ${String(begun)}`)
    }
    // Those that tell only of what happens from now on, and one of spot markets, of which there are none.
    const silent = ['notification', 'orderUpdates', 'userEvents', 'trades', 'activeSpotAssetCtx']
    const talking = Object.keys(parameters).filter((name) => !silent.includes(name))
    await until('every other one has told something', () => talking.every((name) => told.has(name)))
    assert.equal(Number((told.get('fastAssetCtxs') as Record<string, { markPx: string }>).BTC!.markPx), 60_000)
    const history = told.get('userHistoricalOrders') as {
      isSnapshot: boolean
      orderHistory: { order: { oid: number } }[]
    }
    assert.deepEqual([history.isSnapshot, history.orderHistory[0]?.order.oid], [true, oid])
    await socket.close()
  })

  it('of ccxt that fetch', async () => {
    const exchange = ccxtOf(world, 'trader-1', 'agent-1')
    await exchange.loadMarkets()
    const bySymbol = [SYMBOL]
    const calls: Readonly<Record<string, readonly unknown[]>> = {
      fetchBalance: [],
      fetchCanceledAndClosedOrders: bySymbol,
      fetchCanceledOrders: bySymbol,
      fetchClosedOrders: bySymbol,
      fetchCurrencies: [],
      fetchDeposits: [],
      fetchFundingHistory: bySymbol,
      fetchFundingRate: bySymbol,
      fetchFundingRateHistory: bySymbol,
      fetchFundingRates: [],
      fetchL2OrderBook: bySymbol,
      fetchLedger: [],
      fetchMarkets: [],
      fetchMyTrades: bySymbol,
      fetchOHLCV: bySymbol,
      fetchOpenInterest: bySymbol,
      fetchOpenInterests: [],
      fetchOpenOrders: bySymbol,
      fetchOrder: [String(oid), SYMBOL],
      fetchOrderBook: bySymbol,
      fetchOrders: bySymbol,
      fetchPosition: bySymbol,
      fetchPositions: [],
      fetchStatus: [],
      fetchTickers: [],
      fetchTime: [],
      fetchTrades: bySymbol,
      fetchTradingFee: bySymbol,
      fetchWithdrawals: [],
    }
    const names = Object.keys(exchange.has).filter((name) => exchange.has[name] === true && name.startsWith('fetch'))
    assert.deepEqual(Object.keys(calls).toSorted(), names.toSorted())
    for (const [name, of] of Object.entries(calls)) {
      const answer = await callMethod(exchange, name, of)
      assert.ok(!(answer instanceof Error), `${name}: ${String(answer)}`)
    }
  })

  it('that nobody has are refused', async () => {
    const post = (body: object) =>
      fetch(`${world.base}/info`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    for (const type of ['leaderboard2', 'toString', '__proto__', '']) assert.equal((await post({ type })).status, 422)
    const socket = new WebSocketTransport({ url: world.socketUrl })
    await assert.rejects(
      socket.subscribe('nope', { type: 'nope' }, () => undefined),
      /Invalid subscription/,
    )
    await socket.close()
  })
})
