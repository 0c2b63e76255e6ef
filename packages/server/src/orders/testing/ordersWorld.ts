import type { OrderChange, AttemptId } from '../../trading/orders/orderModel.ts'
import type { LivePosition } from '../../trading/positions/positionModel.ts'
import { CHAINS, type Address, type CreateOrderRequest, type Position, type Price } from '@bezel/protocol'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { UNLIMITED_SCOPE } from '@bezel/testkit/agentClient.ts'
import { getAddress, numberToHex } from 'viem'
import type { AgentRecord } from '../../trading/agentRecord.ts'
import { openTestLog } from '../../journal/testing/testLog.ts'
import { createDelegates } from '../../agents/delegates.ts'
import { openRegistry, type Registry } from '../../agents/registry.ts'
import type { ServedChain } from '../../chain/servedChain.ts'
import { openNonces, type Nonces } from '../../access/nonces.ts'
import { createWorld, portsOf, type MarketWorld } from '../../market/testing/fixtures.ts'
import { createFreshness } from '../../market/freshness.ts'
import { migrate } from '../../store/openStore.ts'
import type { Store } from '../../store/sql.ts'
import { openTestStore, type TestStore } from '../../store/testing/testStore.ts'
import { type ChainOrders, createTradingContext } from '../chainOrders.ts'
import type { SignedWrite } from '../signedWrite.ts'
import { createKnownTerms } from '../../accounts/positions/traderTerms.ts'
import { scriptedNode, type ScriptedNode } from './scriptedNode.ts'

export const TRADER = getAddress(`0x${'1'.repeat(40)}`) as Address

export const AGENT = getAddress(`0x${'a'.repeat(40)}`) as Address

export const OTHER_AGENT = getAddress(`0x${'b'.repeat(40)}`) as Address

export const OTHER_TRADER = getAddress(`0x${'2'.repeat(40)}`) as Address

/** A market order of 0.1 BTC at 60,000: 6,000 USD, 600 USDC at leverage 10. */
export const MARKET_BODY: CreateOrderRequest = {
  market: 'BTC/USD',
  side: 'long',
  type: 'market',
  size: '0.1',
  leverage: '10',
}

export const LIMIT_BODY: CreateOrderRequest = { ...MARKET_BODY, type: 'limit', price: '50000' }

/**
 * Everything that a write needs: a real store, real nonces and a real registry, over a node and markets that the test
 * scripts.
 */
export interface OrdersWorld {
  orders: ChainOrders
  registry: Registry
  nonces: Nonces
  readonly node: ScriptedNode
  readonly market: MarketWorld
  readonly opened: TestStore
  readonly changes: OrderChange[]
  readonly positions: LivePosition[]
  /** Prices of the second witness by pair index. */
  readonly witnessed: Map<number, Price>
  headBlock: number
  /** Number of the store's transactions so far. */
  transactions: number
  /** Registers an agent, or changes it. */
  register(changes?: Partial<AgentRecord>): Promise<AgentRecord>
  /** Returns a write with a fresh nonce, as the authentication hook passes it on. */
  write(agent?: Address): SignedWrite
  /** Opens everything again over the same files. */
  restart(): Promise<void>
  remove(): Promise<void>
}

/** Opens a world over a new store, or over one that the test has opened and closes. */
export async function openOrdersWorld(given?: Store): Promise<OrdersWorld> {
  const opened = openTestStore()
  if (given === undefined) await migrate(opened.store)
  else {
    await opened.store.close()
    opened.store = given
  }
  const folder = mkdtempSync(join(tmpdir(), 'bezel-orders-'))
  const market = createWorld()
  const now = (): number => market.nowMs
  let lastNonce = 0
  const world: OrdersWorld = {
    orders: undefined as never,
    registry: undefined as never,
    nonces: undefined as never,
    node: scriptedNode(AGENT),
    market,
    opened,
    changes: [],
    positions: [],
    witnessed: new Map(),
    headBlock: 100,
    transactions: 0,
    register: (changes = {}) => {
      const record = { ...FRESH_AGENT, ...changes }
      return world.registry.changeAgent(record.chain, record.agent, () => record)
    },
    write(agent = AGENT) {
      const nonce = String((lastNonce += 1))
      world.nonces.claim(SERVED.slug, agent, nonce, now())
      const timestampMs = now()
      return {
        agent: world.registry.agent(SERVED.slug, agent)!,
        claim: (sql) => world.nonces.storeClaim(sql, SERVED.slug, agent, nonce, timestampMs),
        relay: null,
      }
    },
    async restart() {
      world.nonces.close()
      await opened.reopen()
      await open()
      // What was in use before is read into memory, as by its next request.
      for (const agent of [AGENT, OTHER_AGENT]) await world.registry.findAgent(SERVED.slug, agent)
    },
    async remove() {
      world.nonces.close()
      await opened.remove()
      rmSync(folder, { recursive: true, force: true })
    },
  }

  async function open(): Promise<void> {
    world.registry = await openRegistry(opened.store)
    world.nonces = await openNonces({ store: opened.store, file: join(folder, 'nonces.log'), now })
    world.orders = ordersOf(world)
  }

  await open()
  return world
}

const { slug, chainId, testnet, liveDiamond: diamond } = CHAINS.arbitrum

/** Number of blocks on top of a final one. */
export const FINAL_BLOCKS = 64

const SERVED: ServedChain = {
  slug,
  chainId,
  testnet,
  diamond,
  rpcUrls: [],
  confirmFinality: true,
  wsUrls: [],
  backendUrl: undefined,
  requestTimeoutBlocks: undefined,
  writes: true,
  finality: { blocks: FINAL_BLOCKS },
  startBlock: 0,
  relayer: {},
}

const FRESH_AGENT: AgentRecord = {
  chain: slug,
  agent: AGENT,
  trader: TRADER,
  name: '',
  scope: UNLIMITED_SCOPE,
  mode: 'self',
  agentSigned: true,
  revoked: false,
  standing: 'used',
  createdAtMs: 1,
  signedAtMs: 1,
}

/** A position in the API's form. */
const POSITION_ANSWER: Position = {
  id: '1',
  trader: TRADER,
  market: 'BTC/USD',
  pairIndex: 0,
  side: 'long',
  size: '0.1',
  collateral: '600',
  collateralSymbol: 'USDC',
  leverage: '10',
  entryPrice: '60000',
  markPrice: '60000',
  liquidationPrice: '54600',
  unrealizedPnl: '0',
  unrealizedPnlPercent: '0',
  fundingFee: '0',
  borrowingFee: '0',
  sl: '0',
  tp: '0',
  openedAtBlock: 1,
  marginMode: 'isolated',
  priceAt: 1_800_000_000_000,
  pendingUpdate: null,
  realized: '-3.6',
}

let lastAttempt = 0

function ordersOf(world: OrdersWorld): ChainOrders {
  const { node, market, positions } = world
  const ports = portsOf(market)
  const { hours, now } = ports
  const store = countedStore(world)
  const terms = createKnownTerms(now)
  return {
    chain: SERVED,
    client: node,
    store,
    accountLog: openTestLog(store, slug, ({ orders }) => world.changes.push(...orders), now),
    delegates: createDelegates({ client: node, diamond, maxAgeMs: 2_000, now }),
    terms,
    trading: createTradingContext({
      freshness: createFreshness(ports),
      hours,
      now,
      head: () => undefined,
      terms,
    }),
    witness: async (pairIndex) => world.witnessed.get(pairIndex),
    positions: {
      ofTrader: (trader) => positions.filter(({ record }) => record.trader === trader),
      find: (id) => positions.find(({ record }) => record.id === id),
    },
    positionAnswer: ({ record, state }) => ({
      ...POSITION_ANSWER,
      id: record.id,
      sl: String(state.trade.sl),
      tp: String(state.trade.tp),
    }),
    isKnown: () => true,
    clock: () => ({ nowMs: now(), headBlock: world.headBlock, headMs: now(), timeoutBlocks: 200 }),
    lastFinal: () => world.headBlock - FINAL_BLOCKS,
    now,
    newAttemptId: () => numberToHex((lastAttempt += 1), { size: 8 }) as AttemptId,
    settings: { preparedMarketMs: 60_000, preparedRestingMs: 300_000, unknownHashMs: 10_000, maxPreparedOrders: 20 },
  }
}

function countedStore(world: OrdersWorld): Store {
  const { store } = world.opened
  return {
    ...store,
    transaction(scope, work) {
      world.transactions += 1
      return store.transaction(scope, work)
    },
  }
}
