import { Usd } from '@bezel/protocol'
import { settleExits } from '../../../packages/server/src/facade/relayer/exitGas.ts'
import { attemptOf } from '../../../packages/server/src/facade/relayer/testing/relayWorld.ts'
import { insertOrder, takeId } from '../../../packages/server/src/store/orderStore.ts'
import type { OrderRecord, OrderRequest } from '../../../packages/server/src/trading/orders/orderModel.ts'
import { countRows, endsOf, FITTING, REQUESTS, unlessEqual, valuesOf } from './raceEnds.ts'
import { freshAddress, race, RACE_CHAIN, type RaceNode, type RaceNodes } from './raceNodes.ts'

async function readGas({ store }: RaceNode): Promise<bigint> {
  const row = await store.read.get<{ wei: string }>(`select wei from relay_gas where trader = ''`)
  return BigInt(row?.wei ?? 0)
}

function enqueue({ store, relaying, world }: RaceNode): Promise<unknown> {
  const trader = freshAddress()
  const attempt = attemptOf({ trader, expiresAtMs: world.base.market.nowMs + 60_000 })
  const action = { attempt, trader, agent: trader, purpose: { kind: 'other' } } as const
  return store.transaction({ chain: RACE_CHAIN, trader }, (sql) => relaying.enqueue(sql, action))
}

export async function raceForGas(nodes: RaceNodes): Promise<string[]> {
  const [node] = nodes.nodes
  nodes.budget.wei = 10n ** 18n
  const empty = await readGas(node)
  await enqueue(node)
  const used = await readGas(node)
  const each = used - empty
  nodes.budget.wei = used + each * BigInt(FITTING)
  const entries = await countRows(node, 'relay_entries')
  const ends = await race(nodes, REQUESTS, enqueue)
  return [
    ...unlessEqual('answers', endsOf(ends), { deployment_budget: REQUESTS - FITTING, ok: FITTING }),
    ...unlessEqual('entries', (await countRows(node, 'relay_entries')) - entries, FITTING),
    ...unlessEqual('gas', String(await readGas(node)), String(nodes.budget.wei)),
  ]
}

/** Stores an order of a new trader without a state. */
async function storeOrder({ store }: RaceNode): Promise<OrderRecord> {
  const trader = freshAddress()
  return store.transaction({ chain: RACE_CHAIN, trader }, async (sql) => {
    const request = { clientId: null, kind: 'open' } as OrderRequest
    const record = { id: await takeId(sql), chain: RACE_CHAIN, trader, agent: null, request } as const
    const stored = { ...record, createdAtMs: 1, originKey: null, spendUsd: Usd.zero }
    await insertOrder(sql, stored)
    await sql.run(`update orders set status = 'prepared' where id = $1`, BigInt(record.id))
    return stored
  })
}

/** Lets the relayer take an order that opens, and sets gas for its way out aside. */
function openOrder({ store, relaying, world }: RaceNode, { id: orderId, trader }: OrderRecord): Promise<unknown> {
  const attempt = attemptOf({ trader, expiresAtMs: world.base.market.nowMs + 60_000 })
  const action = { attempt, trader, agent: trader, purpose: { kind: 'open', orderId } } as const
  return store.transaction({ chain: RACE_CHAIN, trader }, (sql) => relaying.enqueue(sql, action))
}

/** Ends an order as a request of its trader does that finds it expired, which gives the gas back. */
function endOrder({ store, world }: RaceNode, record: OrderRecord): Promise<void> {
  const cause = { block: null, isReorg: false, nowMs: world.base.market.nowMs }
  const orders = [{ record, before: undefined, after: undefined }]
  return store.transaction({ chain: RACE_CHAIN, trader: record.trader }, async (sql) => {
    await sql.run(`update orders set status = 'expired' where id = $1`, BigInt(record.id))
    await settleExits(sql, { chain: RACE_CHAIN, cause, orders, positions: [], fills: [] })
  })
}

export async function raceForExits(nodes: RaceNodes): Promise<string[]> {
  const [node] = nodes.nodes
  nodes.budget.wei = 10n ** 21n
  const records = valuesOf(await race(nodes, REQUESTS, storeOrder))
  const isFirst = (at: number): boolean => at % 4 < 2
  const opened = await race(nodes, REQUESTS, async (at, place) =>
    isFirst(place) ? openOrder(at, records[place]!) : null,
  )
  const ends = await race(nodes, REQUESTS, (at, place) =>
    isFirst(place) ? endOrder(at, records[place]!) : openOrder(at, records[place]!),
  )
  const row = await node.store.read.get<Record<'aside' | 'held' | 'day' | 'traders', string>>(
    `select (select wei from relay_aside) as aside, (select wei from relay_gas where trader = '') as day,
       (select sum(wei::numeric)::text from relay_gas where trader <> '') as traders,
       (select sum(close_wei::numeric + stops_wei::numeric + cancel_wei::numeric)::text from relay_exits
        where over_at is null) as held`,
  )
  return [
    ...unlessEqual('answers', [endsOf(opened), endsOf(ends)], [{ ok: REQUESTS }, { ok: REQUESTS }]),
    ...unlessEqual('aside', row?.aside, row?.held),
    ...unlessEqual('gas of the day', row?.day, row?.traders),
  ]
}
