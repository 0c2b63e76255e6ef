import assert from 'node:assert/strict'
import process from 'node:process'
import { after, before, describe, it } from 'node:test'
import type { Order, SigningDomain } from '@bezel/protocol'
import type { OpenapiDocument } from '../packages/server/src/docs/openapi/openapiDocument.ts'
import { call } from '@bezel/testkit/agentClient.ts'
import { createChainClient, type ChainClient } from '@bezel/testkit/chainClient.ts'
import { startDevnet, type RunningDevnet } from '@bezel/testkit/startDevnet.ts'
import { createBroadcasts } from './fuzz/broadcasts.ts'
import { gatherCast, type Cast } from './fuzz/cast.ts'
import { startFuzzedService, type FuzzedService } from './fuzz/fuzzedService.ts'
import { createJudge } from './fuzz/judge.ts'
import { createKnowledge } from './fuzz/knowledge.ts'
import { createRandom } from './fuzz/random.ts'
import { createRequestMaker } from './fuzz/requests.ts'
import { runFuzz, type FuzzResult } from './fuzz/runFuzz.ts'
import { storeProblems } from './fuzz/storeProblems.ts'
import { readSurface, type Surface } from './fuzz/surface.ts'
import { createTransport } from './fuzz/transport.ts'
import { createTradingClient } from '@bezel/testkit/tradingClient.ts'

const REQUESTS = Number(process.env.FUZZ_REQUESTS ?? 3_000)
/** Number of requests that meet everything at least once. */
const LONG_RUN = 20_000
/** The seed. The default makes the same requests in every run; another seed makes others. */
const SEED = Number(process.env.FUZZ_SEED ?? 1)
const IN_FLIGHT = 16
const TIMEOUT_MS = Math.max(1_800_000, REQUESTS * 20)
const CHAIN = '/v1/arbitrum-sepolia'
const MEGABYTE = 2 ** 20
/** The share of requests below which an operation counts as not covered. */
const LEAST_SHARE = 1 / 200

describe('a fuzz of every operation', { timeout: TIMEOUT_MS }, () => {
  let devnet: RunningDevnet
  let service: FuzzedService
  let surface: Surface
  let cast: Cast
  let result: FuzzResult
  const residentBytes: (number | undefined)[] = []

  before(async () => {
    console.log(`FUZZ_SEED=${SEED} FUZZ_REQUESTS=${REQUESTS}`)
    devnet = await startDevnet({ DEVNET_BLOCK_MS: '250', DEVNET_ORACLE_DELAY_MS: '200' })
    service = await startFuzzedService(devnet)
    const chain = createChainClient(devnet.file)
    const document = (await call(service.url, '/openapi.json')).body as OpenapiDocument
    const domain = (await call(service.url, CHAIN)).body.signing.domain as SigningDomain
    surface = readSurface(document)
    cast = await gatherCast({ url: service.url, chain, file: devnet.file, domain, random: createRandom(SEED) })
    console.log(`the fuzz begins, with ${surface.operations.length} operations`)
    result = await fuzz(chain, document, domain)
    print(result)
  })
  after(async () => {
    await service?.stop()
    await devnet?.stop()
  })

  async function fuzz(chain: ChainClient, document: OpenapiDocument, domain: SigningDomain): Promise<FuzzResult> {
    const knowledge = createKnowledge()
    for (const path of ['markets', 'prices']) {
      const { body } = await call(service.url, `${CHAIN}/${path}`)
      knowledge.learn(path === 'markets' ? 'listMarkets' : 'getPrices', body)
    }
    for (const order of await firstTrades(chain)) knowledge.learn('getOrder', order)
    const broadcasts = createBroadcasts(chain, (await chain.client.getGasPrice()) * 2n)
    const transport = createTransport(service.url, IN_FLIGHT)
    const found = await runFuzz({
      seed: SEED,
      requests: REQUESTS,
      inFlight: IN_FLIGHT,
      url: service.url,
      maker: createRequestMaker({ seed: SEED, surface, domain, cast, knowledge }),
      transport,
      judge: createJudge(document, surface),
      knowledge,
      broadcasts,
      onProgress: (answered) => {
        if (answered % Math.ceil(REQUESTS / 4) === 0) console.log(`${answered} answers`)
        if (answered === Math.floor(REQUESTS / 4) || answered === REQUESTS) residentBytes.push(service.residentBytes())
      },
    })
    transport.close()
    await broadcasts.settle()
    console.log(`${broadcasts.sent} transactions were sent`)
    return found
  }

  /** Opens a position and a resting order for every actor who can have one, so that there is something to change. */
  async function firstTrades(chain: ChainClient): Promise<Order[]> {
    const terms = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.05', leverage: '5' }
    const trading = cast.actors.filter(({ account }) => account !== undefined)
    const orders = trading.map(async ({ trader, account }) => {
      const owner = devnet.file.accounts.find(({ address }) => address.toLowerCase() === trader)!
      const of = { devnet, chain, url: () => service.url }
      const client = await createTradingClient(of, chain.account(owner.name), account!)
      const filled = await client.trade(terms, 'filled')
      return [filled, await client.trade({ ...terms, type: 'limit', price: '1000', size: '1' }, 'open')]
    })
    return (await Promise.all(orders)).flat()
  }

  function print({ answers, codes, unavailable, elapsedMs }: FuzzResult): void {
    const perSecond = Math.round((REQUESTS * 1000) / elapsedMs)
    console.log(`${REQUESTS} requests in ${elapsedMs} ms: ${perSecond}/s, ${unavailable} unavailable`)
    for (const [operation, statuses] of answers) {
      console.log(
        `  ${operation}: ${[...statuses]
          .toSorted()
          .map(([status, count]) => `${status} x ${count}`)
          .join(', ')}`,
      )
    }
    console.log(
      `  ${[...codes]
        .toSorted()
        .map(([code, count]) => `${code} x ${count}`)
        .join(', ')}`,
    )
  }

  it('has no answer that is not documented', () => {
    assert.equal(result.failures.length, 0, `\n${result.failures.join('\n')}\n`)
  })

  it('asked every operation, in vain and with success', () => {
    for (const { id, isPrivate, path, query, body } of surface.operations) {
      const statuses = result.answers.get(id) ?? new Map<number, number>()
      const total = statuses.values().reduce((sum, count) => sum + count, 0)
      assert.ok(total >= REQUESTS * LEAST_SHARE, `${id} was asked ${total} times`)
      const succeeded = (statuses.get(200) ?? 0) + (statuses.get(201) ?? 0) > 0
      assert.ok(succeeded || isRarelyPossible(id), `${id} never succeeded`)
      // An operation that names no more than a chain has little to refuse.
      const isRefusable = isPrivate || path.length > 1 || query.length > 0 || body !== undefined
      const isRefused = [...statuses.keys()].some((status) => status >= 400)
      assert.ok(isRefused || !isRefusable, `${id} was never refused`)
    }
  })

  it('was hardly ever unavailable', () => {
    assert.ok(result.unavailable < REQUESTS / 10, `${result.unavailable} answers were 502 or 503`)
  })

  it('left the service ready, without a line in its log', async () => {
    assert.equal(service.hasEnded(), false)
    assert.equal((await fetch(`${service.url}/ready`)).status, 200)
    assert.equal(service.printed(), '')
  })

  it('left a store in which everything adds up', () => {
    assert.deepEqual(storeProblems(devnet.folder), [])
  })

  it('left the memory of the service bounded', (context) => {
    const [early, late] = residentBytes
    if (early === undefined || late === undefined) return context.skip('the memory of a process can not be read here')
    console.log(`memory: ${Math.round(early / MEGABYTE)} MB at a quarter, ${Math.round(late / MEGABYTE)} MB at the end`)
    assert.ok(late < early * 2 + 200 * MEGABYTE, `${early} bytes became ${late}`)
  })
})

/**
 * Returns true for operations that may find nothing to do. Only a change that the oracle has left without an answer can
 * be reclaimed, and here it answers all. A notice to dismiss may come too late in a short run.
 */
function isRarelyPossible(id: string): boolean {
  if (id === 'cancelPositionUpdate') return true
  return (id === 'dismissNotification' || id === 'revokeApiKey') && REQUESTS < LONG_RUN
}
