import assert from 'node:assert/strict'
import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Address, SigningDomain } from '@bezel/protocol'
import { call, send, signedHeaders } from '@bezel/testkit/agentClient.ts'
import { storeBusyTrader } from '@bezel/testkit/busyTrader.ts'
import { createChainClient, type ChainClient } from '@bezel/testkit/chainClient.ts'
import { signL1 } from '@bezel/testkit/signEnvelope.ts'
import { endChild, startDevnet, untilStarted, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { authorize } from '@bezel/testkit/tradingClient.ts'
import { until } from '@bezel/testkit/until.ts'
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts'
import { INFO_TYPES } from '../../packages/server/src/facade/info/infoTypes.ts'
import { weightRule, type AnyRoute } from '../../packages/server/src/http/route.ts'
import { ROUTES } from '../../packages/server/src/http/routes/registerRoutes.ts'

const MAIN = new URL('../../packages/server/src/main.ts', import.meta.url)
const SLUG = 'arbitrum-sepolia'
const FILLS = 10_000
const RESTING = 900

/** Repetitions of a request whose charge can't be told. */
const MAX_AGAIN = 5

/**
 * Processor time that one unit of weight may cost, in times of the reference work that is done in the same process just
 * before. That takes about a millisecond on the machine for which the weights were chosen.
 */
const MAX_REFERENCES = 15

/** Requests before and during a measurement. */
const WARM_UP = 5
const MEASURED = 15
const REFERENCE_WARM_UP = 200

/** The most that a body may have. */
const LONG = 64 * 1024 - 600

/** Limits that no test uses up. They differ, so that the tightest one of each kind of request is always the same. */
const SETTINGS = {
  PORT: '0',
  LOG_LEVEL: 'silent',
  BEZEL_IP_LIMIT: '1000000',
  BEZEL_AGENT_LIMIT: '900000',
  BEZEL_AGENT_WRITE_LIMIT: '800000',
  BEZEL_REGISTRATION_LIMIT: '100000',
  BEZEL_MAX_PREPARED_ORDERS: '10000',
  BEZEL_OVERLOAD_PERCENT: '0',
}

/** The accounts that requests are about. */
interface Place {
  readonly trader: Address
  readonly agent: Address
  readonly order: string
}

/** The most expensive request that is known of an operation. */
interface WorstInput {
  /** The part of the path that the names of its parameters stand for, and the query. */
  readonly query?: (nowMs: number) => string
  readonly body?: (nth: number) => unknown
  /** Weight that it must be charged. Default 1. */
  readonly weight?: number
  /** True when it is signed by the agent. */
  readonly isSigned?: boolean
  readonly statuses?: readonly number[]
}

/** Returns a body of full length: as many fields as one object may have, each with a long value. */
const manyFields = (): unknown =>
  Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`x${at}`, 'y'.repeat(Math.floor(LONG / 1_000) - 12)]))

/** Returns a body of full length with more fields than one object may have. */
const tooManyFields = (): unknown =>
  Object.fromEntries(Array.from({ length: Math.floor(LONG / 12) }, (_, at) => [`x${at}`, 1]))

/** Returns a body that ends nothing, so that the orders are still there for the others; all of them are read. */
const otherMarket = (): unknown => ({ market: 'ETH/USD' })

const manyMarkets = (): unknown => ({
  scope: { markets: Array.from({ length: Math.floor(LONG / 4) }, () => 'b') },
})

const READ: WorstInput = { isSigned: true }
const LIST: WorstInput = { isSigned: true, query: () => '?limit=500', weight: 5 }
/** All open orders are looked at, and most are in the answer. */
const FILTERED: WorstInput = { isSigned: true, query: () => '?market=BTC-USD&status=open&since=1' }
const WRONG_WRITE: WorstInput = { isSigned: true, body: manyFields, statuses: [400, 401, 404] }
const WRONG_BODY: WorstInput = { body: manyFields, statuses: [400, 401, 404] }

const LIMIT_ORDER = { market: 'BTC/USD', side: 'long', type: 'limit', size: '0.01', price: '50000', leverage: '10' }

const PREVIEWED = '?market=BTC-USD&side=long&type=limit&size=0.01&price=50000&leverage=10&sl=40000&tp=90000'

/** Every operation with its worst known inputs. */
const WORST: Readonly<Record<string, readonly WorstInput[]>> = {
  getIndex: [{}],
  health: [{}],
  ready: [{}],
  getTime: [{}],
  getChainInfo: [{}],
  listMarkets: [{}],
  getMarket: [{}],
  getOrderBook: [{}],
  getFunding: [{}],
  getPrices: [{}],
  getRecentTrades: [
    { query: () => '?limit=500', weight: 5 },
    { query: () => `?${'a=1&b=2&'.repeat(900)}`, statuses: [400] },
  ],
  getCandles: [{ query: (nowMs) => `?interval=1m&from=${nowMs - 4_998 * 60_000}`, weight: 10 }],
  createAgent: [{ body: manyMarkets, statuses: [400] }, WRONG_BODY, { body: tooManyFields, statuses: [400] }],
  getAgent: [{}],
  revokeAgent: [WRONG_BODY],
  issueApiKey: [WRONG_BODY],
  listApiKeys: [READ],
  revokeApiKey: [{ isSigned: true, statuses: [401, 403, 404] }],
  getAccount: [READ],
  listPositions: [READ, LIST],
  listOpenOrders: [READ, FILTERED, LIST],
  listOrderHistory: [LIST],
  listFills: [LIST],
  listEvents: [LIST],
  listAudit: [LIST],
  previewOrder: [
    { isSigned: true, query: () => PREVIEWED },
    { isSigned: true, query: () => `${PREVIEWED}&simulate=true`, weight: 5 },
    { isSigned: true, query: () => `?${'a=1&b=2&'.repeat(900)}`, statuses: [400] },
  ],
  previewClose: [
    { isSigned: true, statuses: [200, 404] },
    { isSigned: true, query: () => '?simulate=true', weight: 5, statuses: [200, 404] },
  ],
  previewPosition: [
    { isSigned: true, query: () => '?leverage=5', statuses: [200, 404] },
    { isSigned: true, query: () => '?leverage=5&simulate=true', weight: 5, statuses: [200, 404] },
  ],
  getOrder: [READ],
  getOrderByClientId: [
    { isSigned: true, query: () => `?clientId=${encodeURIComponent('é'.repeat(64))}`, statuses: [404] },
  ],
  createOrder: [
    WRONG_WRITE,
    { isSigned: true, body: (nth) => ({ ...LIMIT_ORDER, clientId: `n${nth}` }), statuses: [201] },
  ],
  updateOrder: [WRONG_WRITE],
  cancelOrder: [{ isSigned: true, statuses: [404, 409] }],
  cancelAllOrders: [{ isSigned: true, query: () => '?market=ETH-USD' }],
  submitOrder: [WRONG_WRITE],
  getPosition: [{ isSigned: true, statuses: [200, 404] }],
  closePosition: [WRONG_WRITE],
  updatePosition: [WRONG_WRITE],
  cancelPositionUpdate: [{ isSigned: true, statuses: [404, 409] }],
  closeAllPositions: [WRONG_WRITE, { isSigned: true, body: otherMarket }],
  flatten: [WRONG_WRITE, { isSigned: true, body: otherMarket }],
  listNotifications: [{}],
  dismissNotification: [WRONG_BODY],
  hlInfo: [{ body: () => ({ ...(manyFields() as object), x0: 1, type: 'meta' }), statuses: [200, 422] }],
  hlExchange: [{ body: strangersBatch }],
}

/** Returns an envelope with as many orders as a body holds, well signed by nobody who is known. */
function strangersBatch(): unknown {
  const order = { a: 0, b: true, p: '50000', s: '0.01', r: false, t: { limit: { tif: 'Gtc' as const } } }
  const orders = Array.from({ length: Math.floor(LONG / 90) }, () => order)
  return signL1(generatePrivateKey(), { action: { type: 'order', orders, grouping: 'na' }, nonce: Date.now() })
}

/** Rows of the `/info` lists of the busy trader. Every other type weighs 1. */
const LISTS: Readonly<Record<string, number>> = {
  candleSnapshot: 2_000,
  openOrders: RESTING,
  frontendOpenOrders: RESTING,
  webData2: RESTING,
  historicalOrders: 2_000,
  userFills: 2_000,
  userFillsByTime: 2_000,
  userFunding: 2_000,
  userNonFundingLedgerUpdates: 2_000,
}

/** The lists that are made from a trader's fills. What has to be read once to find them is charged as well. */
const OF_FILLS = ['userFills', 'userFillsByTime', 'userFunding', 'userNonFundingLedgerUpdates']

/** Measurements of a list of a trader whom nobody asked for. The better one counts: a block may arrive meanwhile. */
const COLD_TRADERS = 2

/** Traders whom nobody asked for yet, some for each list of a user: what is kept of one list may serve another. */
const COLD: Readonly<Record<string, readonly Address[]>> = Object.fromEntries(
  Object.keys(LISTS)
    .filter((type) => type !== 'candleSnapshot')
    .map((type) => [type, Array.from({ length: COLD_TRADERS }, strangerAddress)]),
)

/** Requests about traders whom nobody asked for, of a type that is no list. */
const STRANGERS = 5

function strangerAddress(): Address {
  return privateKeyToAddress(generatePrivateKey()) as Address
}

describe('the weight of a request', () => {
  it('is told by one rule for every operation: 1 with its defaults', () => {
    for (const route of ROUTES) assert.equal(weightRule(route)?.of({}, Date.now()) ?? 1, 1, route.operationId)
    const heavy = ROUTES.filter((route) => weightRule(route) !== undefined).map(({ operationId }) => operationId)
    const heaviest = Object.entries(WORST).filter(([, inputs]) => inputs.some(({ weight = 1 }) => weight > 1))
    assert.deepEqual(heavy.toSorted(), heaviest.map(([operation]) => operation).toSorted())
    assert.deepEqual(Object.keys(WORST).toSorted(), ROUTES.map(({ operationId }) => operationId).toSorted())
  })
})

describe('processor time per unit of weight', () => {
  let devnet: RunningDevnet
  let service: ChildProcess
  let url: string
  let chain: ChainClient
  let domain: SigningDomain
  let place: Place

  before(async () => {
    devnet = await startDevnet()
    chain = createChainClient(devnet.file)
    const [trader, agent] = [chain.account('trader-1'), chain.account('agent-1')]
    const folder = join(devnet.folder, 'busy')
    const busy = { chain: SLUG, resting: RESTING } as const
    await storeBusyTrader(folder, { ...busy, trader: trader.address as Address, fills: FILLS })
    const strangers = Object.entries(COLD).flatMap(([type, traders]) => traders.map((cold) => ({ type, cold })))
    for (const [at, { type, cold }] of strangers.entries()) {
      const fills = OF_FILLS.includes(type) ? FILLS : LISTS.historicalOrders!
      await storeBusyTrader(folder, { ...busy, trader: cold, fills, nth: at + 1 })
    }
    await startService(folder)
    domain = (await call(url, `/v1/${SLUG}`)).body.signing.domain
    await authorize({ chain, url: () => url }, trader, agent)
    place = { trader: trader.address as Address, agent: agent.address as Address, order: '5000000' }
    const positions = (): Promise<Request> => requestOf(routeOf('listPositions'), READ, 0)
    await until('the agent may trade', async () => (await fetch(await positions())).ok)
    // The history of prices is read from the feed, which may take a while.
    await until('old candles are there', async () => {
      const answer = await send(url, 'POST', `/hl/${SLUG}/info`, infoBody('candleSnapshot', 0))
      return answer.body.length === LISTS.candleSnapshot
    })
  })
  after(async () => {
    if (service !== undefined) await endChild(service, 'the service', 'SIGTERM')
    await devnet?.stop()
  })

  /** Starts the service in a process of its own, which tells its processor time. */
  async function startService(folder: string): Promise<void> {
    const { privateKey } = devnet.file.accounts.find(({ name }) => name === 'relayer')!
    const files = { BEZEL_DATA: folder, BEZEL_CHAINS_FILE: join(devnet.folder, 'devnet.json') }
    const env = { ...process.env, ...SETTINGS, ...files, BEZEL_RELAYER_KEY: privateKey }
    const execArgv = ['--import', new URL('tellCpu.ts', import.meta.url).href]
    service = fork(MAIN, { env, execArgv, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    url = (await untilStarted(service, 'the service')).url
    // Until the reference work is compiled, it takes longer.
    for (let at = 0; at < REFERENCE_WARM_UP; at += 1) await cpuMs('reference')
    await until('the service is ready', async () => (await fetch(`${url}/ready`)).ok)
  }

  /** Asks the service for the processor time that it has used, or that the reference work takes now. */
  async function cpuMs(of: 'cpu' | 'reference' = 'cpu'): Promise<number> {
    const told = once(service, 'message')
    service.send(of)
    return ((await told)[0] as { cpuMs: number }).cpuMs
  }

  /** Returns a request of an `/info` type with every field that one of them needs. */
  function infoBody(type: string, startTime: number, user = place.trader): object {
    const req = { coin: 'BTC', interval: '3m', startTime }
    return { type, user, coin: 'BTC', startTime, oid: 1, id: 100, req }
  }

  const routeOf = (operation: string): AnyRoute => ROUTES.find(({ operationId }) => operationId === operation)!

  async function requestOf(route: AnyRoute, input: WorstInput, nth: number): Promise<Request> {
    const { method, operationId: operation } = route
    const path = pathOf(route, place) + (input.query?.(Date.now()) ?? '')
    const body = input.body === undefined ? {} : { body: JSON.stringify(input.body(nth)) }
    const of = { operation, method, path, ...body }
    const signed = input.isSigned === true ? await signedHeaders(domain, chain.account('agent-1'), of) : {}
    const content = input.body === undefined ? {} : { 'content-type': 'application/json' }
    return new Request(url + path, { method, headers: { ...content, ...signed }, ...body })
  }

  /** Sends a request. Returns its answer, what is left of its limit, and its cost in times of the reference work. */
  async function cost(request: Request) {
    const referenceMs = await cpuMs('reference')
    const startMs = await cpuMs()
    const answer = await fetch(request)
    const text = await answer.text()
    const left = Number(answer.headers.get('ratelimit-remaining'))
    return { status: answer.status, text, left, references: ((await cpuMs()) - startMs) / referenceMs }
  }

  /** Checks the cost of a unit of weight, in times of the reference work. */
  function judge(name: string, unitCost: number): void {
    const told = `${name} costs ${unitCost.toFixed(1)} times the reference work per unit of weight`
    if (process.env.VERBOSE !== undefined) console.log(told)
    assert.ok(unitCost <= MAX_REFERENCES, told)
  }

  /** Sends requests of one kind, and checks what each was charged and what it cost. */
  async function measure(name: string, requests: readonly Request[], of: WorstInput): Promise<void> {
    const { weight = 1, statuses = [200] } = of
    for (const request of requests.slice(0, WARM_UP)) await (await fetch(request)).text()
    const left: number[] = []
    const costs: number[] = []
    for (const request of requests.slice(WARM_UP)) {
      const asked = await cost(request)
      costs.push(asked.references)
      assert.ok(statuses.includes(asked.status), `${name}: ${asked.status} ${asked.text.slice(0, 300)}`)
      left.push(asked.left)
    }
    const charged = left.slice(1).map((remaining, at) => left[at]! - remaining)
    // A window that ends starts over, which makes the requests before and after look cheaper.
    const others = charged.filter((one) => one !== weight)
    const isRight = others.length <= charged.length / 3 && others.every((one) => one < weight)
    assert.ok(isRight, `${name} was charged ${charged.join(', ')} and not ${weight}`)
    // The lower quartile, because blocks and prices arrive meanwhile and are measured together with many requests.
    judge(name, costs.toSorted((a, b) => a - b)[Math.floor(costs.length / 4)]! / weight)
  }

  for (const [operation, inputs] of Object.entries(WORST)) {
    it(`is little for ${operation}, whatever is asked`, async () => {
      for (const [at, input] of inputs.entries()) {
        const numbers = Array.from({ length: WARM_UP + MEASURED }, (_, nth) => nth)
        const requests: Request[] = []
        for (const nth of numbers) requests.push(await requestOf(routeOf(operation), input, nth))
        await measure(`${operation} ${at}`, requests, input)
      }
    })
  }

  for (const type of Object.keys(INFO_TYPES)) {
    it(`is little for /info ${type} of a busy trader`, async () => {
      const weight = Math.max(1, Math.ceil((LISTS[type] ?? 0) / 200))
      // Different times, so that no answer is the one before.
      const requests = Array.from({ length: WARM_UP + MEASURED }, (_, nth) => infoRequest(infoBody(type, nth)))
      await measure(`/info ${type}`, requests, { weight })
    })
  }

  // After the others, so that the code is warm and only the data are cold.
  for (const type of Object.keys(INFO_TYPES)) {
    it(`is little for /info ${type} of a trader whom nobody asked for yet`, async () => {
      const least = Math.max(1, Math.ceil((LISTS[type] ?? 0) / 200))
      const users = COLD[type] ?? Array.from({ length: STRANGERS }, strangerAddress)
      const units: number[] = []
      const askAs = async (user: Address) => {
        const idle = await cost(new Request(`${url}/health`))
        const asked = await cost(infoRequest(infoBody(type, 0, user)))
        assert.equal(asked.status, 200, `${type}: ${asked.text.slice(0, 300)}`)
        return { asked, charged: idle.left - asked.left }
      }
      for (const user of users) {
        let { asked, charged } = await askAs(user)
        // A limit that is given back in between makes it look cheaper: then it is asked again.
        for (let again = 0; charged < least && again < MAX_AGAIN; again += 1) ({ asked, charged } = await askAs(user))
        assert.ok(charged >= least, `${type} was charged ${charged} and not ${least}`)
        units.push(asked.references / Math.max(least, charged))
      }
      judge(`${type}, cold,`, Math.min(...units))
    })
  }

  function infoRequest(body: object): Request {
    const headers = { 'content-type': 'application/json' }
    return new Request(`${url}/hl/${SLUG}/info`, { method: 'POST', headers, body: JSON.stringify(body) })
  }
})

function pathOf({ path, operationId }: AnyRoute, { trader, agent, order }: Place): string {
  const address = operationId.includes('Agent') ? agent : trader
  const parameters: Readonly<Record<string, string>> = {
    chain: SLUG,
    symbol: 'BTC-USD',
    label: 'x',
    id: order,
    address,
  }
  return path.replaceAll(/:(\w+)/g, (_all, name: string) => parameters[name] ?? name)
}
