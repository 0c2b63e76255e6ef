import { CHAINS, parseAddress, type Address, type CreateOrderRequest, type OrderId } from '@bezel/protocol'
import { numberToHex } from 'viem'
import {
  openExchangeWorld,
  type ExchangeWorld,
} from '../../../packages/server/src/facade/exchange/testing/exchangeWorld.ts'
import { createRelaying, type Relaying } from '../../../packages/server/src/facade/relayer/createRelaying.ts'
import { defaultRelayerSettings } from '../../../packages/server/src/facade/relayer/relayerSettings.ts'
import {
  createFakeRelayNode,
  type FakeRelayNode,
} from '../../../packages/server/src/facade/relayer/testing/fakeRelayNode.ts'
import { testKey } from '../../../packages/server/src/facade/relayer/testing/relayWorld.ts'
import { depthFinality } from '../../../packages/server/src/chain/finality.ts'
import { StoreUnavailableError } from '../../../packages/server/src/ground/unavailable.ts'
import { refoldOrder } from '../../../packages/server/src/journal/refold.ts'
import { createOrder } from '../../../packages/server/src/orders/createOrder.ts'
import type { SignedWrite } from '../../../packages/server/src/orders/signedWrite.ts'
import { hashOf } from '../../../packages/server/src/orders/testing/chainEvents.ts'
import { migrate } from '../../../packages/server/src/store/openStore.ts'
import { openPostgres } from '../../../packages/server/src/store/postgres.ts'
import type { Store, Transaction } from '../../../packages/server/src/store/sql.ts'
import type { AgentRecord } from '../../../packages/server/src/trading/agentRecord.ts'

/** The chain of the races. */
export const RACE_CHAIN = 'arbitrum'

/** Bounds of the store far above the need of a busy machine. */
const DATABASE = { connections: 10, statementMs: 60_000, idleTransactionMs: 60_000 }

/** One of the services that share a database: its own connections, memory, registry, nonces and relayer. */
export interface RaceNode {
  readonly store: Store
  readonly world: ExchangeWorld
  readonly relaying: Relaying
}

export interface RaceNodes {
  readonly nodes: readonly [RaceNode, RaceNode, ...RaceNode[]]
  /** Gas budget of the deployment and its day, in wei. */
  readonly budget: { wei: bigint }
  close(): Promise<void>
}

/** Opens `count` services on one database, two at least, whose chain and prices stand still. */
export async function openRaceNodes(url: string, count: number, wrap: (store: Store) => Store): Promise<RaceNodes> {
  const budget = { wei: 10n ** 18n }
  const node = createFakeRelayNode(testKey.address)
  node.balanceWei = 10n ** 24n
  const first = wrap(openPostgres({ url, ...DATABASE }))
  await migrate(first)
  const another = (): Promise<RaceNode> => openNode(wrap(openPostgres({ url, ...DATABASE })), node, budget)
  const nodes: [RaceNode, RaceNode, ...RaceNode[]] = [await openNode(first, node, budget), await another()]
  while (nodes.length < count) nodes.push(await another())
  return {
    nodes,
    budget,
    async close() {
      for (const { world } of nodes) await world.remove()
    },
  }
}

async function openNode(store: Store, node: FakeRelayNode, budget: { readonly wei: bigint }): Promise<RaceNode> {
  const world = await openExchangeWorld(store)
  world.parts = { ...world.parts, agentLimit: 1_000_000, agentWritesLimit: 1_000_000 }
  // Each attempt has a hash of its own, also where two nodes make theirs at the same moment.
  world.relayer.enqueue = async (_sql, { attempt }) => ({ hash: hashOf(Number(attempt.id)) })
  const { chainId, liveDiamond: diamond } = CHAINS[RACE_CHAIN]
  const chain = { slug: RACE_CHAIN, chainId, diamond } as const
  const quiet = (): void => undefined
  const relaying = createRelaying({
    chain,
    sender: { chain: RACE_CHAIN, sender: testKey.address },
    signer: testKey.signerOf(chain),
    client: node.client,
    store,
    settings: defaultRelayerSettings(RACE_CHAIN, () => ({
      traderDayWei: 10n ** 18n,
      deploymentDayWei: budget.wei,
    })),
    now: () => world.base.market.nowMs,
    log: { info: quiet, warn: quiet, error: quiet } as never,
    head: () => node.headBlock(),
    finality: depthFinality(8),
    onHashes: async () => undefined,
  })
  await relaying.step()
  return { store, world, relaying }
}

let addresses = 0

/** Returns an address that was not used before. */
export function freshAddress(): Address {
  return parseAddress(numberToHex((addresses += 1) + 0x1000_0000, { size: 20 }))!
}

/** Registers an agent on one node, and reads it on the others, as its next request there does. */
export async function registerEverywhere(
  { nodes }: RaceNodes,
  changes: Partial<AgentRecord> & Pick<AgentRecord, 'agent' | 'trader'>,
): Promise<AgentRecord> {
  const record = await nodes[0].world.base.register(changes)
  for (const { world } of nodes) {
    await world.base.registry.findAgent(RACE_CHAIN, record.agent)
    world.base.node.delegate = record.agent
  }
  return record
}

let nonces = 0

/** Returns a nonce that was not used before. */
export function freshNonce(): string {
  return String((nonces += 1))
}

/** Returns a write of an agent that uses a nonce up, and does `also` in the same transaction. */
export function writeOf(
  { world: { base } }: RaceNode,
  agent: AgentRecord,
  of: {
    readonly nonce?: string
    readonly timestampMs?: number
    readonly also?: (sql: Transaction) => Promise<void>
  } = {},
): SignedWrite {
  const { nonce = freshNonce(), timestampMs = base.market.nowMs, also = async () => undefined } = of
  return {
    agent,
    async claim(sql) {
      if (!(await base.nonces.storeClaim(sql, RACE_CHAIN, agent.agent, nonce, timestampMs))) return false
      await also(sql)
      return true
    },
    relay: null,
  }
}

/** Creates an order on a node. Returns its id; throws the refusal. */
export async function create(
  node: RaceNode,
  write: SignedWrite,
  body: CreateOrderRequest,
  maxPreparedOrders = 1_000,
): Promise<{ readonly id: string; readonly isRepeat: boolean }> {
  const { orders } = node.world.base
  const settings = { ...orders.settings, maxPreparedOrders }
  const { prepared, isRepeat } = await createOrder({ ...orders, settings }, write, body)
  return { id: prepared.order.id, isRepeat }
}

/**
 * Sends `count` requests at the same time, each to another node than the one before. Returns how each ended. On a busy
 * machine a request may wait for too long and be told so, after which it is sent again, as its client does.
 */
export function race<Answer>(
  { nodes }: RaceNodes,
  count: number,
  send: (node: RaceNode, at: number) => Promise<Answer>,
): Promise<PromiseSettledResult<Answer>[]> {
  return Promise.allSettled(
    Array.from({ length: count }, (_, at) => untilAvailable(() => send(nodes[at % nodes.length]!, at))),
  )
}

async function untilAvailable<Answer>(send: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    try {
      return await send()
    } catch (error) {
      if (!(error instanceof StoreUnavailableError)) throw error
    }
  }
}

/** Folds all orders of a trader again and again on the first node, alone on the chain as a block is, during `work`. */
export async function whileFollowing<Result>(
  { nodes: [{ world, store }] }: RaceNodes,
  trader: Address,
  work: Promise<Result>,
): Promise<Result> {
  const state = { isOver: false }
  const ended = work.finally(() => (state.isOver = true))
  ended.catch(() => undefined)
  const { orders } = world.base
  for (let block = 1; !state.isOver; block++) {
    const rows = await store.read.all<{ id: bigint }>('select id from orders where trader = $1', trader)
    const origin = { block, isReorg: false }
    await untilAvailable(() =>
      orders.accountLog.transaction({ chain: RACE_CHAIN }, origin, async (sql, journal, at) => {
        const clock = { ...orders.clock(), nowMs: at.nowMs }
        for (const { id } of rows) await refoldOrder(sql, String(id) as OrderId, clock, journal)
      }),
    )
  }
  return ended
}
