import type { Address, ChainSlug, Hex, OrderId } from '@bezel/protocol'
import { findAgent, saveAgent } from '../../packages/server/src/store/agentStore.ts'
import { listAttempts, insertAttempt } from '../../packages/server/src/store/attemptStore.ts'
import { insertFill, listFills } from '../../packages/server/src/store/fillStore.ts'
import {
  takeId,
  insertOrder,
  listOrders,
  saveOrderState,
  type StoredOrder,
} from '../../packages/server/src/store/orderStore.ts'
import { openStore } from '../../packages/server/src/store/openStore.ts'
import { insertOrderEvent, listOrderEvents } from '../../packages/server/src/store/orderEventStore.ts'
import {
  insertPosition,
  insertPositionEvent,
  listOpenPositions,
  listPositionEvents,
  savePositionState,
  type StoredPosition,
} from '../../packages/server/src/store/positionStore.ts'
import type { Sql, Store } from '../../packages/server/src/store/sql.ts'
import type { Attempt, AttemptId, OrderEvent } from '../../packages/server/src/trading/orders/orderModel.ts'
import type { PositionEvent } from '../../packages/server/src/trading/positions/positionModel.ts'
import { TEST_SCOPE } from '../../packages/server/src/store/testing/testScope.ts'

/** Amount of data of a large deployment. */
export interface Load {
  readonly orders: number
  readonly agents: number
  readonly openPositions: number
}

/** All data of one trader, as the service stored it. */
interface Sample {
  readonly trader: Address
  readonly agent: Address
  readonly orders: readonly (StoredOrder & { readonly attempts: readonly Attempt[]; readonly events: OrderEvent[] })[]
  readonly positions: readonly (StoredPosition & { readonly events: readonly PositionEvent[] })[]
  readonly fills: Awaited<ReturnType<typeof listFills>>
}

const CHAIN: ChainSlug = 'arbitrum-sepolia'
const AGENTS_PER_TRANSACTION = 10_000
const ORDERS_PER_TRANSACTION = 2_000
const LAST_ID = String(Number.MAX_SAFE_INTEGER) as OrderId

/**
 * Fills the data folder of a stopped service with copies of one trader's data, under the addresses of other traders,
 * one for each agent.
 */
export async function fillStore(
  folder: string,
  sampled: { readonly trader: Address; readonly agent: Address },
  load: Load,
): Promise<void> {
  const store = await openStore(folder)
  const sample = await readSample(store, sampled)
  const record = await findAgent(store.read, CHAIN, sampled.agent)
  if (record === undefined || sample.positions.length === 0) throw new Error('there is nothing to copy')
  for (let made = 0; made < load.agents; made += AGENTS_PER_TRANSACTION) {
    await store.transaction(TEST_SCOPE, async (sql) => {
      const end = Math.min(load.agents, made + AGENTS_PER_TRANSACTION)
      for (let n = made; n < end; n += 1) await saveAgent(sql, { ...record, agent: agentOf(n), trader: traderOf(n) })
    })
  }
  for (let made = 0; made < load.orders; made += ORDERS_PER_TRANSACTION) {
    await store.transaction(TEST_SCOPE, async (sql) => {
      const end = Math.min(load.orders, made + ORDERS_PER_TRANSACTION)
      for (let n = made; n < end; n += 1) await copyOrder(sql, sample, n, load)
    })
    showProgress(made / load.orders)
  }
  showProgress(1)
  await store.close()
}

async function readSample(store: Store, { trader, agent }: Pick<Sample, 'trader' | 'agent'>): Promise<Sample> {
  const sql = store.read
  const orders: Sample['orders'][number][] = []
  for (const order of await listOrders(sql, CHAIN, trader, LAST_ID, 1_000)) {
    const { id } = order.record
    orders.push({ ...order, attempts: await listAttempts(sql, id), events: await listOrderEvents(sql, id) })
  }
  const positions: Sample['positions'][number][] = []
  for (const position of await listOpenPositions(sql, CHAIN)) {
    positions.push({ ...position, events: await listPositionEvents(sql, position.record.id) })
  }
  return {
    trader,
    agent,
    orders,
    positions,
    fills: await listFills(sql, { chain: CHAIN, trader, cursor: undefined, limit: 1_000 }),
  }
}

/**
 * Copies the nth order with its attempts, events and fill. At regular intervals also adds a position that it opened.
 */
async function copyOrder(sql: Sql, sample: Sample, n: number, load: Load): Promise<void> {
  const trader = traderOf(n % load.agents)
  const agent = agentOf(n % load.agents)
  const { record, state, attempts, events, spendDay } = sample.orders[n % sample.orders.length]!
  const id = await takeId(sql)
  await insertOrder(sql, {
    ...record,
    id,
    trader,
    agent,
    originKey: null,
    request: { ...record.request, clientId: `c${n}` },
  })
  for (const [i, attempt] of attempts.entries()) {
    await insertAttempt(sql, {
      chain: CHAIN,
      orderId: id,
      attempt: { ...attempt, id: attemptId(n, i), submittedHash: null },
    })
  }
  for (const [i, event] of events.entries()) {
    const placed = { ...event, ...placeOf(n, i) } as OrderEvent
    const handle = i === 0 ? (`pending:${n}` as const) : null
    await insertOrderEvent(sql, { chain: CHAIN, trader, orderId: id, handle, event: placed })
  }
  await saveOrderState(sql, id, state, spendDay)
  const fill = sample.fills[n % sample.fills.length]
  if (fill !== undefined && state?.status === 'filled') {
    const place = { ...placeOf(n, 0), txHash: fill.fill.txHash as Hex, timestampMs: fill.fill.timestamp }
    await insertFill(sql, {
      chain: CHAIN,
      trader,
      pairIndex: 0,
      place,
      fill: { ...fill.fill, id: Number(await takeId(sql)) },
    })
  }
  const every = Math.floor(load.orders / load.openPositions)
  if (n % every === 0) await copyPosition(sql, sample, n, { trader, originOrderId: id })
}

async function copyPosition(
  sql: Sql,
  { positions }: Sample,
  n: number,
  of: { readonly trader: Address; readonly originOrderId: OrderId },
): Promise<void> {
  const { state, events } = positions[n % positions.length]!
  const id = await takeId(sql)
  await insertPosition(sql, { id, chain: CHAIN, ...of })
  for (const [i, event] of events.entries()) {
    await insertPositionEvent(sql, { chain: CHAIN, positionId: id, event: { ...event, ...placeOf(n, i) } })
  }
  await savePositionState(sql, id, state)
}

/** Returns a place in a block that never existed: number 0, before the chain's first block with trades. */
function placeOf(
  n: number,
  i: number,
): { readonly blockHash: Hex; readonly blockNumber: number; readonly logIndex: number } {
  return { blockHash: `0xb${n.toString(16).padStart(63, '0')}` as Hex, blockNumber: 0, logIndex: i }
}

const attemptId = (n: number, i: number): AttemptId => `0xa${(n * 16 + i).toString(16).padStart(15, '0')}` as AttemptId
const traderOf = (n: number): Address => `0x1${n.toString(16).padStart(39, '0')}` as Address
const agentOf = (n: number): Address => `0x2${n.toString(16).padStart(39, '0')}` as Address

function showProgress(share: number): void {
  if (process.stderr.isTTY)
    process.stderr.write(`\rfilling the store: ${Math.round(share * 100)} %${share === 1 ? '\n' : ''}`)
}
