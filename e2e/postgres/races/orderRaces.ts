import type { OrderId } from '@bezel/protocol'
import { UNLIMITED_SCOPE } from '@bezel/testkit/agentClient.ts'
import {
  gtc,
  orderAction,
  orderItem,
  SIGNER,
  statusesOf,
  TRADER,
} from '../../../packages/server/src/facade/exchange/testing/exchangeWorld.ts'
import { cancelOrder } from '../../../packages/server/src/orders/cancelOrder.ts'
import { LIMIT_BODY, MARKET_BODY } from '../../../packages/server/src/orders/testing/ordersWorld.ts'
import { countRows, endsOf, FITTING, REQUESTS, unlessEqual, valuesOf } from './raceEnds.ts'
import { create, freshAddress, race, registerEverywhere, whileFollowing, writeOf, type RaceNodes } from './raceNodes.ts'

/** Spend of one order in the cap races, in USD with 18 decimals, as the first order of each database shows it. */
async function readSpendOf(nodes: RaceNodes): Promise<bigint> {
  const agent = await registerEverywhere(nodes, { agent: freshAddress(), trader: freshAddress() })
  const [node] = nodes.nodes
  const { id } = await create(node, writeOf(node, agent), MARKET_BODY)
  const row = await node.store.read.get<{ usd: string }>(
    'select spend_usd as usd from orders where id = $1',
    BigInt(id),
  )
  return BigInt(row!.usd)
}

function usdOf(wei: bigint): string {
  const text = wei.toString().padStart(19, '0')
  return `${text.slice(0, -18)}.${text.slice(-18)}`.replace(/\.?0+$/, '')
}

export async function raceForMoney(nodes: RaceNodes): Promise<string[]> {
  const spend = await readSpendOf(nodes)
  const scope = { ...UNLIMITED_SCOPE, dailySpendCapUsd: usdOf(spend * BigInt(FITTING)) }
  const agent = await registerEverywhere(nodes, { agent: freshAddress(), trader: freshAddress(), scope })
  const sent = race(nodes, REQUESTS, (node) => create(node, writeOf(node, agent), MARKET_BODY))
  const ends = await whileFollowing(nodes, agent.trader, sent)
  const row = await nodes.nodes[0].store.read.get<{ spent: string }>(
    'select spent_usd as spent from spend where agent = $1',
    agent.agent,
  )
  return [
    ...unlessEqual('answers', endsOf(ends), { SCOPE_SPEND_CAP_EXCEEDED: REQUESTS - FITTING, ok: FITTING }),
    ...unlessEqual('orders', await countRows(nodes.nodes[0], 'orders where agent = $1', agent.agent), FITTING),
    ...unlessEqual('spend', row?.spent, String(spend * BigInt(FITTING))),
  ]
}

/** Its former trader withdraws orders of an agent while it trades for its next one: both count in its day. */
export async function raceForMovedAgent(nodes: RaceNodes): Promise<string[]> {
  const [agent, trader] = [freshAddress(), freshAddress()]
  const itself = await registerEverywhere(nodes, { agent: trader, trader })
  const former = await registerEverywhere(nodes, { agent, trader })
  const made: { readonly id: string }[] = []
  for (let at = 0; at < REQUESTS / 2; at += 1) {
    const node = nodes.nodes[at % nodes.nodes.length]!
    made.push(await create(node, writeOf(node, former), LIMIT_BODY))
  }
  const next = await registerEverywhere(nodes, { agent, trader: freshAddress() })
  const ends = await race(nodes, REQUESTS, async (node, at) => {
    if (at % 4 < 2) return create(node, writeOf(node, next), LIMIT_BODY)
    const { id } = made[Math.floor(at / 4) * 2 + (at % 2)]!
    return cancelOrder(node.world.base.orders, writeOf(node, itself), id as OrderId)
  })
  const row = await nodes.nodes[0].store.read.get<{ spent: string; counted: string }>(
    `select spent_usd as spent, (select sum(spend_usd::numeric)::text from orders
       where agent = $1 and spend_day is not null) as counted from spend where agent = $1`,
    agent,
  )
  return [...unlessEqual('answers', endsOf(ends), { ok: REQUESTS }), ...unlessEqual('spend', row?.spent, row?.counted)]
}

export async function raceForRoom(nodes: RaceNodes): Promise<string[]> {
  const agent = await registerEverywhere(nodes, { agent: freshAddress(), trader: freshAddress() })
  const sent = race(nodes, REQUESTS, (node) => create(node, writeOf(node, agent), LIMIT_BODY, FITTING))
  const ends = await whileFollowing(nodes, agent.trader, sent)
  return [
    ...unlessEqual('answers', endsOf(ends), { TOO_MANY_PREPARED_ORDERS: REQUESTS - FITTING, ok: FITTING }),
    ...unlessEqual('orders', await countRows(nodes.nodes[0], 'orders where agent = $1', agent.agent), FITTING),
  ]
}

export async function raceForClientId(nodes: RaceNodes): Promise<string[]> {
  const agent = await registerEverywhere(nodes, { agent: freshAddress(), trader: freshAddress() })
  const body = { ...LIMIT_BODY, clientId: 'the-same' }
  const sent = race(nodes, REQUESTS, (node) => create(node, writeOf(node, agent), body))
  const answers = valuesOf(await whileFollowing(nodes, agent.trader, sent))
  return [
    ...unlessEqual('answers', endsOf(await sent), { ok: REQUESTS }),
    ...unlessEqual('ids', new Set(answers.map(({ id }) => id)).size, 1),
    ...unlessEqual('answers with a new order', answers.filter(({ isRepeat }) => !isRepeat).length, 1),
    ...unlessEqual('orders', await countRows(nodes.nodes[0], 'orders where trader = $1', agent.trader), 1),
  ]
}

let cloids = 0
let envelopes = 0

export async function raceForCloid(nodes: RaceNodes): Promise<string[]> {
  const cloid = `0x${(cloids += 1).toString(16).padStart(32, '0')}`
  const action = orderAction(orderItem({ p: '50000', t: gtc, c: cloid }))
  for (const { world } of nodes.nodes) world.base.node.delegate = world.relayer.address
  const ends = await race(nodes, REQUESTS, async ({ world }) => {
    // The nonces of both nodes are those of one client, which counts on.
    const nonce = world.base.market.nowMs - 59_000 + (envelopes += 1)
    const answer = await world.send(action, { nonce })
    return { nonce, text: JSON.stringify(statusesOf(answer)) }
  })
  const answers = valuesOf(ends)
  const texts = answers.map(({ text }) => text)
  const [{ store }] = nodes.nodes
  const stored = await store.read.all<{ nonce: bigint }>('select nonce from facade_nonces where signer = $1', SIGNER)
  // An envelope that was answered with a fault, after which another one is sent, may be used up too.
  const used = new Set(stored.map(({ nonce }) => Number(nonce)))
  const rows = await countRows(nodes.nodes[0], 'orders where trader = $1 and client_id = $2', TRADER, cloid)
  return [
    ...unlessEqual('answers', endsOf(ends), { ok: REQUESTS }),
    ...unlessEqual('different answers', new Set(texts).size, 1),
    ...unlessEqual('refusals', texts.filter((text) => /error/.test(text)).length, 0),
    ...unlessEqual('orders', rows, 1),
    ...unlessEqual('used nonces', answers.filter(({ nonce }) => used.has(nonce)).length, REQUESTS),
  ]
}
