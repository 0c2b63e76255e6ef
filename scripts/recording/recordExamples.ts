import { LOG_CHANNELS, type AccountEvent, type AgentScope, type SigningDomain } from '@bezel/protocol'
import { authorization, call, keyIssue, revocation } from '@bezel/testkit/agentClient.ts'
import { signL1, signUserSigned } from '@bezel/testkit/signEnvelope.ts'
import { createTradingClient } from '@bezel/testkit/tradingClient.ts'
import { startTradingWorld, type TradingWorld } from '@bezel/testkit/tradingWorld.ts'
import { until } from '@bezel/testkit/until.ts'
import type { Recording } from '../../packages/server/src/docs/recorded/recording.ts'
import { createRecorder } from './recorder.ts'
import { CHAIN, recordTrading, type Run } from './recordTrading.ts'
import { agentAuth, openRecordedSocket, type RecordedSocket } from './recordStream.ts'

const MARKET = `${CHAIN}/markets/BTC-USD`
const FACADE = '/hl/arbitrum-sepolia'
const ISSUE_KEY = { operation: 'issueApiKey', method: 'POST', path: `${CHAIN}/api-keys` }
const DAY_MS = 86_400_000
const MONTH_MS = 30 * DAY_MS

/**
 * Runs a trader's day on a local chain and returns what the service answered: the examples of the reference. It takes
 * about a minute.
 */
export async function recordExamples(): Promise<Recording> {
  // Slower blocks than in tests, so that a request can be seen while it waits.
  const world = await startTradingWorld({ devnet: { DEVNET_BLOCK_MS: '250' } })
  try {
    const { domain } = (await call(world.url(), CHAIN)).body.signing as { readonly domain: SigningDomain }
    const recorder = createRecorder(world.url(), domain)
    const run = await authorise({ world, recorder, domain })
    const socket = await openSocket(run)
    await recordTrading(run)
    await readAccount(run)
    await closeSocket(socket)
    await readMarkets(run)
    await useFacade(run)
    await endRights(run)
    return recorder.recording()
  } finally {
    await world.stop()
  }
}

async function authorise(of: Pick<Run, 'world' | 'recorder' | 'domain'>): Promise<Run> {
  const { world, recorder, domain } = of
  const [trader, agent] = [world.chain.account('trader-1'), world.chain.account('agent-1')]
  const scope: AgentScope = {
    markets: ['BTC/USD', 'ETH/USD'],
    maxLeverage: '50',
    dailySpendCapUsd: '100000',
    expiresAt: Date.now() + MONTH_MS,
    permissions: 'trade',
  }
  const body = await authorization(domain, trader, agent, { name: 'my bot', scope })
  await recorder.ask({ operation: 'createAgent', method: 'POST', path: `${CHAIN}/agents`, body, status: 201 })
  await world.chain.send(trader, 'setTradingDelegate', [agent.address])
  await untilActive(world, agent.address)
  await recorder.ask({ operation: 'getAgent', path: `${CHAIN}/agents/${agent.address}` })
  const issued = await recorder.ask({ ...ISSUE_KEY, body: await keyIssue(domain, trader, 'dashboard') })
  const { devnet, chain, url } = world
  const client = await createTradingClient({ devnet, chain, url }, trader, agent)
  return { ...of, client, apiKey: issued.body.apiKey as string }
}

async function openSocket(run: Run): Promise<RecordedSocket> {
  const { world, recorder, domain, client, apiKey } = run
  const path = `${CHAIN}/ws`
  const url = world.url().replace('http', 'ws') + path
  const trader = client.trader.address
  const keyed = await openRecordedSocket(url, recorder)
  await keyed.say('authKey', { op: 'auth', id: 1, apiKey, trader }, 'controlAuthenticated')
  keyed.close()
  const socket = await openRecordedSocket(url, recorder)
  await socket.say('authAgent', await agentAuth(domain, client.agent, { path, trader }), 'controlAuthenticated')
  const market = 'BTC/USD'
  await socket.say('subscribePrices', { op: 'subscribe', channel: 'prices', id: 'all prices' }, 'dataPrices')
  await socket.say('subscribePrices', { op: 'subscribe', channel: 'prices', market, id: 2 }, 'dataPrices')
  await socket.say('subscribeMarket', { op: 'subscribe', channel: 'book', market, id: 3 }, 'dataBook')
  await socket.say('subscribeMarket', { op: 'subscribe', channel: 'trades', market, id: 4 }, 'dataTrades')
  const candles = { channel: 'candles', market, interval: '1m', id: 5 }
  await socket.say('subscribeCandles', { op: 'subscribe', ...candles }, 'dataCandles')
  await socket.say('subscribeCandles', { op: 'subscribe', ...candles }, 'controlSubscribed')
  await socket.say('subscribeLog', { op: 'subscribe', channel: 'orders', fromSeq: 1, id: 6 }, 'controlSubscribed')
  await socket.say('subscribeLog', { op: 'subscribe', channel: 'fills', id: 7 }, 'dataFills')
  await socket.say('subscribeLog', { op: 'subscribe', channel: 'positions', id: 8 }, 'dataPositions')
  await socket.say('subscribeLog', { op: 'subscribe', channel: 'account', id: 9 }, 'dataAccount')
  return socket
}

async function readAccount(run: Run): Promise<void> {
  const { recorder, domain, client, apiKey } = run
  const account = `${CHAIN}/account/${client.trader.address}`
  await recorder.ask({ operation: 'getAccount', path: account, apiKey })
  await readOpen(run)
  const history = { operation: 'listOrderHistory', apiKey }
  const { body: first } = await recorder.ask({ ...history, path: `${account}/orders/history?limit=1` })
  await recorder.ask({ ...history, path: `${account}/orders/history?cursor=${first.nextCursor}&limit=1` })
  const fills = { operation: 'listFills', apiKey }
  const { body: newest } = await recorder.ask({ ...fills, path: `${account}/fills?limit=2` })
  await recorder.ask({ ...fills, path: `${account}/fills?cursor=${newest.nextCursor}&limit=2` })
  await readEvents(run)
  await recorder.ask({ ...ISSUE_KEY, body: await keyIssue(domain, client.trader, 'reports') })
  const audit = { operation: 'listAudit', apiKey }
  const { body: latest } = await recorder.ask({ ...audit, path: `${account}/audit?limit=1` })
  await recorder.ask({ ...audit, path: `${account}/audit?cursor=${latest.nextCursor}&limit=2` })
  await recorder.ask({ operation: 'listApiKeys', path: `${CHAIN}/api-keys`, signer: client.agent })
  const path = `/api/notifications/${client.trader.address}`
  const { body } = await recorder.ask({ operation: 'listNotifications', path })
  await recorder.ask({ operation: 'listNotifications', path: '/api/notifications/0x12', status: 400 })
  const dismiss = { operation: 'dismissNotification', method: 'POST', path: `${path}/dismiss`, signer: client.agent }
  await recorder.ask({ ...dismiss, body: { notificationId: body.notifications[0].id } })
}

/** Records the lists of what is open: whole, and the parts that a query selects. */
async function readOpen({ recorder, client, apiKey }: Run): Promise<void> {
  const account = `${CHAIN}/account/${client.trader.address}`
  const select = `market=BTC-USD&since=${Date.now() - DAY_MS}&limit=1`
  const orders = { operation: 'listOpenOrders', apiKey }
  await recorder.ask({ ...orders, path: `${account}/orders` })
  const { body } = await recorder.ask({ ...orders, path: `${account}/orders?${select}` })
  await recorder.ask({ ...orders, path: `${account}/orders?status=open&cursor=${body.nextCursor}&limit=1` })
  await recorder.ask({ operation: 'listPositions', path: `${account}/positions?${select}`, apiKey })
  await recorder.ask({ operation: 'getOrderByClientId', path: `${CHAIN}/orders?clientId=first-1`, apiKey })
}

/** Records the first event of each channel. */
async function readEvents({ recorder, client }: Run): Promise<void> {
  const { body } = await client.account('/events', 'listEvents')
  for (const channel of LOG_CHANNELS) {
    const { seq } = (body.data as AccountEvent[]).find((event) => event.channel === channel)!
    const path = `${CHAIN}/account/${client.trader.address}/events?after=${seq - 1}&limit=1`
    await recorder.ask({ operation: 'listEvents', path, signer: client.agent })
  }
}

async function closeSocket(socket: RecordedSocket): Promise<void> {
  await socket.heard('dataOrders')
  await socket.say('ping', { op: 'ping', id: 10 }, 'controlPong')
  await socket.heard('controlPing')
  await socket.say('subscribeMarket', { op: 'subscribe', channel: 'book', market: 'BTC/USDT', id: 12 }, 'controlError')
  const unknown = { op: 'subscribe', channel: 'candles', market: 'BTC/USDT', interval: '1m', id: 12 }
  await socket.say('subscribeCandles', unknown, 'controlError')
  const market = 'BTC/USD'
  await socket.say('unsubscribePrices', { op: 'unsubscribe', channel: 'prices', id: 13 }, 'controlUnsubscribed')
  const single = { op: 'unsubscribe', channel: 'prices', market, id: 17 }
  await socket.say('unsubscribePrices', single, 'controlUnsubscribed')
  await socket.say('unsubscribeMarket', { op: 'unsubscribe', channel: 'book', market, id: 14 }, 'controlUnsubscribed')
  const candles = { op: 'unsubscribe', channel: 'candles', market, interval: '1m', id: 15 }
  await socket.say('unsubscribeCandles', candles, 'controlUnsubscribed')
  await socket.say('unsubscribeLog', { op: 'unsubscribe', channel: 'orders', id: 16 }, 'controlUnsubscribed')
  socket.close()
}

async function readMarkets({ recorder }: Run): Promise<void> {
  const now = Date.now()
  await recorder.ask({ operation: 'getIndex', path: '/' })
  await recorder.ask({ operation: 'health', path: '/health' })
  await recorder.ask({ operation: 'ready', path: '/ready' })
  await recorder.ask({ operation: 'getTime', path: '/v1/time' })
  await recorder.ask({ operation: 'getChainInfo', path: CHAIN })
  await recorder.ask({ operation: 'listMarkets', path: `${CHAIN}/markets` })
  await recorder.ask({ operation: 'getMarket', path: MARKET })
  await recorder.ask({ operation: 'getMarket', path: `${CHAIN}/markets/BTC-USDT`, status: 404 })
  await recorder.ask({ operation: 'getFunding', path: `${MARKET}/funding` })
  await recorder.ask({ operation: 'getPrices', path: `${CHAIN}/prices` })
  await recorder.ask({ operation: 'getOrderBook', path: `${MARKET}/book?levels=2` })
  const range = `interval=1m&from=${now - 180_000}&to=${now}`
  await recorder.ask({ operation: 'getCandles', path: `${MARKET}/candles?${range}` })
  await recorder.ask({ operation: 'getRecentTrades', path: `${MARKET}/trades?limit=2` })
}

/** Trades through the facade: approves an agent, delegates to the relayer and places a resting order. */
async function useFacade({ world, recorder }: Run): Promise<void> {
  const [trader, agent] = [world.chain.account('trader-2'), world.chain.account('agent-2')]
  const exchange = { operation: 'hlExchange', method: 'POST', path: `${FACADE}/exchange` }
  const approval = {
    type: 'approveAgent',
    signatureChainId: '0x66eee',
    hyperliquidChain: 'Testnet',
    agentAddress: agent.address.toLowerCase(),
    agentName: 'my bot',
    nonce: Date.now(),
  }
  const approved = await recorder.ask({ ...exchange, body: signUserSigned(keyOf(world, 'trader-2'), approval) })
  const { relayer } = (await call(world.url(), CHAIN)).body as { readonly relayer: `0x${string}` }
  if (approved.body.delegationTx !== null) await world.chain.send(trader, 'setTradingDelegate', [relayer])
  const order = { a: 0, b: true, p: '55000', s: '0.05', r: false, t: { limit: { tif: 'Gtc' } } }
  const place = (): object =>
    signL1(keyOf(world, 'agent-2'), {
      action: { type: 'order', orders: [order], grouping: 'na' },
      nonce: Date.now(),
      expiresAfter: Date.now() + 60_000,
    })
  await untilActive(world, agent.address)
  await recorder.ask({ ...exchange, body: place() })
  const info = { operation: 'hlInfo', method: 'POST', path: `${FACADE}/info` }
  await recorder.ask({ ...info, body: { type: 'openOrders', user: trader.address.toLowerCase() } })
}

async function endRights({ recorder, domain, client }: Run): Promise<void> {
  const { trader, agent } = client
  const path = `${CHAIN}/agents/${agent.address}`
  const body = await revocation(domain, trader, agent.address)
  await recorder.ask({ operation: 'revokeAgent', method: 'DELETE', path, body })
  const key = { operation: 'revokeApiKey', method: 'DELETE', path: `${CHAIN}/api-keys/dashboard` }
  await recorder.ask({ ...key, signer: trader })
}

/** Waits until the service sees the delegation of an agent. */
async function untilActive(world: TradingWorld, agent: string): Promise<void> {
  await until(`the agent ${agent} is active`, async (saw) => {
    const { body } = await call(world.url(), `${CHAIN}/agents/${agent}`)
    saw(body)
    return body.agent.status === 'active'
  })
}

function keyOf({ devnet }: TradingWorld, name: string): string {
  return devnet.file.accounts.find((account) => account.name === name)!.privateKey
}
