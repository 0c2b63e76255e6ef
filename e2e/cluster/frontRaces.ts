import assert from 'node:assert/strict'
import process from 'node:process'
import type { AgentScope } from '@bezel/protocol'
import { authorization, call, UNLIMITED_SCOPE, type Answer } from '@bezel/testkit/agentClient.ts'
import { until } from '@bezel/testkit/until.ts'
import { generatePrivateKey, privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { REQUESTS, unlessEqual } from '../postgres/races/raceEnds.ts'
import {
  captureApproval,
  captureEnvelope,
  captureSigned,
  captureStruct,
  CHAIN,
  isAccepted,
  sendCaptured,
  type Captured,
} from './captured.ts'
import type { Cluster } from './openCluster.ts'

/** Rounds of each race, by default one, because machines may be busy. */
export const FRONT_ROUNDS = Number(process.env['CAMPAIGN'] ?? 1)
/** Orders that an agent may have prepared, in the setting of the nodes. */
export const MAX_PREPARED = 7
/** Orders whose money fits into the cap, fewer than may be prepared. */
const FITTING_CAP = 5
/** Orders whose gas fits into the budget of the race, as far as none of it comes back meanwhile. */
const FITTING_GAS = 3n
/** A budget that nothing uses up, in wei. */
const PLENTY_WEI = 10n ** 21n

export const LIMIT = { market: 'BTC/USD', side: 'long', type: 'limit', price: '50000', size: '0.02', leverage: '10' }
/** A resting order of the facade. */
const RESTING = { a: 0, b: true, p: '50000', s: '0.02', r: false, t: { limit: { tif: 'Gtc' } } }

/** Races of requests that the front spreads over the nodes. Each round returns what went wrong. */
export const FRONT_RACES: readonly { readonly name: string; round(cluster: Cluster): Promise<string[]> }[] = [
  { name: 'the money of a cap is spent once', round: raceForMoney },
  { name: 'no more orders are prepared than an agent may have', round: raceForRoom },
  { name: 'one clientId is one order', round: raceForClientId },
  { name: 'one cloid is one order of the facade, relayed once', round: raceForCloid },
  { name: 'an agent that two traders register serves one', round: raceForAgent },
  { name: 'the gas of a day is counted once', round: raceForGas },
]

/** Returns an account that nobody has used. */
export function freshAccount(): PrivateKeyAccount {
  return privateKeyToAccount(generatePrivateKey())
}

/** Sends what `capture` signs through the front, again as long as a node, or that of the chain, is not ready. */
export function ask(cluster: Cluster, capture: () => Captured | Promise<Captured>): Promise<Answer> {
  return askAt(cluster.front.url, capture)
}

/** Sends what `capture` signs to a node, again as long as it, or the node of the chain, is not ready. */
export function askAt(url: string, capture: () => Captured | Promise<Captured>): Promise<Answer> {
  return until('an answer', async (saw) => {
    const answer = await sendCaptured(url, await capture())
    saw(answer.body)
    return isNotReady(answer) ? undefined : answer
  })
}

/** True for a refusal that says nothing of the request: a busy machine was too slow for it. */
export function isNotReady({ status }: Pick<Answer, 'status'>): boolean {
  return status === 503 || status === 502
}

/** Sends all requests of a round at once. */
function race(cluster: Cluster, capture: (at: number) => Captured | Promise<Captured>): Promise<Answer[]> {
  return Promise.all(Array.from({ length: REQUESTS }, (_, at) => ask(cluster, () => capture(at))))
}

/** Returns the number of answers by their end: `ok`, or the code of the refusal. */
function endsOf(answers: readonly Answer[]): Record<string, number> {
  const names = answers.map((answer) => (isAccepted(answer) ? 'ok' : (answer.body.code ?? answer.body.response)))
  return Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, of]) => [name, of.length]).toSorted())
}

/** Registers a new agent of a trader, and makes it its delegate. */
export async function newAgent(
  cluster: Cluster,
  traderName: string,
  scope: AgentScope = UNLIMITED_SCOPE,
): Promise<{ readonly trader: PrivateKeyAccount; readonly agent: PrivateKeyAccount }> {
  const { chain, domain } = cluster
  const [trader, agent] = [chain.account(traderName), freshAccount()]
  const answer = await ask(cluster, async () =>
    captureStruct('POST', '/agents', await authorization(domain, trader, agent, { scope })),
  )
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
  await chain.send(trader, 'setTradingDelegate', [agent.address])
  return { trader, agent }
}

/** Waits until an agent may trade, whose delegation every node sees with its next block. Returns the first order. */
export async function firstOrder(cluster: Cluster, agent: PrivateKeyAccount): Promise<Answer> {
  return until('the delegation is seen', async (saw) => {
    const answer = await ask(cluster, () => captureOrder(cluster, agent))
    saw(answer.body)
    return answer.status === 201 ? answer : undefined
  })
}

export function captureOrder({ domain }: Cluster, agent: PrivateKeyAccount, more: object = {}): Promise<Captured> {
  return captureSigned({ domain, agent }, 'createOrder', 'POST', '/orders', { ...LIMIT, ...more })
}

async function countOrders(cluster: Cluster, agent: PrivateKeyAccount): Promise<number> {
  const [count] = await cluster.rows(`select count(*) from orders where agent = '${agent.address}'`)
  return Number(count)
}

async function raceForMoney(cluster: Cluster): Promise<string[]> {
  const probe = await newAgent(cluster, 'trader-1')
  const { body } = await firstOrder(cluster, probe.agent)
  const [spend = ''] = await cluster.rows(`select spend_usd from orders where id = ${body.order.id}`)
  const cap = (BigInt(spend) * BigInt(FITTING_CAP)).toString().padStart(19, '0')
  const dailySpendCapUsd = `${cap.slice(0, -18)}.${cap.slice(-18)}`.replace(/\.?0+$/, '')
  const { agent } = await newAgent(cluster, 'trader-1', { ...UNLIMITED_SCOPE, dailySpendCapUsd })
  await firstOrder(cluster, agent)
  const answers = await race(cluster, () => captureOrder(cluster, agent))
  const [spent] = await cluster.rows(`select spent_usd from spend where agent = '${agent.address}'`)
  const fitting = FITTING_CAP - 1
  return [
    ...unlessEqual('answers', endsOf(answers), { SCOPE_SPEND_CAP_EXCEEDED: REQUESTS - fitting, ok: fitting }),
    ...unlessEqual('orders', await countOrders(cluster, agent), FITTING_CAP),
    ...unlessEqual('spend', spent, String(BigInt(spend) * BigInt(FITTING_CAP))),
  ]
}

async function raceForRoom(cluster: Cluster): Promise<string[]> {
  const { agent } = await newAgent(cluster, 'trader-2')
  await firstOrder(cluster, agent)
  const answers = await race(cluster, () => captureOrder(cluster, agent))
  const fitting = MAX_PREPARED - 1
  return [
    ...unlessEqual('answers', endsOf(answers), { TOO_MANY_PREPARED_ORDERS: REQUESTS - fitting, ok: fitting }),
    ...unlessEqual('orders', await countOrders(cluster, agent), MAX_PREPARED),
  ]
}

async function raceForClientId(cluster: Cluster): Promise<string[]> {
  const { agent } = await newAgent(cluster, 'trader-3')
  await firstOrder(cluster, agent)
  const answers = await race(cluster, () => captureOrder(cluster, agent, { clientId: agent.address }))
  return [
    ...unlessEqual('answers', endsOf(answers), { ok: REQUESTS }),
    ...unlessEqual('ids', new Set(answers.map(({ body }) => body.order?.id)).size, 1),
    ...unlessEqual('new orders', answers.filter(({ status }) => status === 201).length, 1),
    ...unlessEqual('orders', await countOrders(cluster, agent), 2),
  ]
}

/** Lets the relayer act for a trader, whose agent of the facade is the devnet's agent of the same number. */
async function connectFacade(cluster: Cluster, number: number): Promise<string> {
  const { chain, devnet } = cluster
  const keyOf = (name: string): string => devnet.file.accounts.find((account) => account.name === name)!.privateKey
  const agent = chain.account(`agent-${number}`).address
  const approved = await ask(cluster, () => captureApproval(keyOf(`trader-${number}`), agent))
  assert.ok(isAccepted(approved), JSON.stringify(approved.body))
  await chain.send(chain.account(`trader-${number}`), 'setTradingDelegate', [chain.account('relayer').address])
  const key = keyOf(`agent-${number}`)
  await until('the delegation is seen', async (saw) => {
    const answer = await ask(cluster, () => captureEnvelope(key, { type: 'scheduleCancel' }))
    saw(answer.body)
    return isAccepted(answer)
  })
  return key
}

export function restingOrder(cloid: string) {
  return { type: 'order', orders: [{ ...RESTING, c: cloid }], grouping: 'na' }
}

export function cancellation(cloid: string) {
  return { type: 'cancelByCloid', cancels: [{ asset: 0, cloid }] }
}

export function freshCloid(): string {
  return `0x${generatePrivateKey().slice(2, 34)}`
}

const facadeKeys = new WeakMap<Cluster, Promise<string>>()

/** Returns the key of an agent of the facade, which is connected once. */
export function openFacadeKey(cluster: Cluster): Promise<string> {
  const known = facadeKeys.get(cluster) ?? connectFacade(cluster, 4)
  facadeKeys.set(cluster, known)
  return known
}

/** Leaves out what becomes of an order while it is asked for: its transaction has a new price, or is mined. */
const withoutPending = (name: string, value: unknown): unknown => (name === 'pending' ? undefined : value)

async function raceForCloid(cluster: Cluster): Promise<string[]> {
  const key = await openFacadeKey(cluster)
  const cloid = freshCloid()
  const answers = await race(cluster, () => captureEnvelope(key, restingOrder(cloid)))
  const [row] = await cluster.rows(
    `select count(distinct o.id), count(a.id) from orders o join attempts a on a.order_id = o.id
     where o.client_id = '${cloid}'`,
  )
  const statuses = answers.map(({ body }) => JSON.stringify(body.response?.data?.statuses ?? body, withoutPending))
  const cancelled = await ask(cluster, () => captureEnvelope(key, cancellation(cloid)))
  assert.ok(isAccepted(cancelled), JSON.stringify(cancelled.body))
  return [
    ...unlessEqual('answers', endsOf(answers), { ok: REQUESTS }),
    ...unlessEqual('different answers', new Set(statuses).size, 1),
    ...unlessEqual(
      'refusals',
      statuses.filter((text) => text.includes('error')),
      [],
    ),
    ...unlessEqual('orders and attempts', row, '1|1'),
  ]
}

async function raceForAgent(cluster: Cluster): Promise<string[]> {
  const agent = freshAccount()
  const traders = [freshAccount(), freshAccount()] as const
  const now = Date.now()
  const answers = await race(cluster, async (at) => {
    const trader = traders[at % 2 === 0 ? 0 : 1]
    const of = { timestamp: now + at, withoutAgent: true }
    return captureStruct('POST', '/agents', await authorization(cluster.domain, trader, agent, of))
  })
  const served = new Set(answers.filter(isAccepted).map(({ body }) => body.agent.trader))
  const stored = await cluster.rows(`select trader from agents where agent = '${agent.address}'`)
  const { ok = 0, TRADER_MISMATCH: refused = 0, NONCE_REUSED: late = 0 } = endsOf(answers)
  return [
    ...unlessEqual('traders', [...served], stored),
    ...unlessEqual('answers', [ok + late, refused], [REQUESTS / 2, REQUESTS / 2]),
  ]
}

/** The gas of the day as it is counted, and as its entries and what is set aside add up, in one moment. */
const GAS_OF_DAY = `select g.wei, (select coalesce(sum(counted_wei::numeric), 0) from relay_entries e where e.day = g.day) +
    (select coalesce(sum(close_wei::numeric + stops_wei::numeric + cancel_wei::numeric), 0) from relay_exits x
     where x.day = g.day and over_at is null)
  from relay_gas g where trader = '' order by day desc limit 1`

/** Sets the budget of the day, in a moment at which every node has paused its relayer and so knows the budget. */
async function setBudget(cluster: Cluster, wei: bigint): Promise<void> {
  await cluster.rows(
    `insert into controls (chain, control, subject, value, set_at)
     values ('${CHAIN}', 'deployment_day_wei', '', '${wei}', 0), ('${CHAIN}', 'relayer', '', 'for a moment', 0)
     on conflict (chain, control, subject) do update set value = excluded.value`,
  )
  for (let node = 0; node < cluster.size; node++) {
    // An order that the node took before it knew would use up the budget of the race.
    await until('the node knows the budget', async (saw) => {
      const { body } = await call(cluster.urlOf(node), '/ready')
      saw(body)
      return isPaused({ body })
    })
  }
  await cluster.rows(`delete from controls where control = 'relayer'`)
}

const isPaused = ({ body }: Pick<Answer, 'body'>): boolean => JSON.stringify(body).includes('paused the relayer')

async function readGas(cluster: Cluster): Promise<readonly [bigint, bigint]> {
  const [row = '0|0'] = await cluster.rows(GAS_OF_DAY)
  const [counted = '0', sum = '0'] = row.split('|')
  return [BigInt(counted), BigInt(sum)]
}

async function raceForGas(cluster: Cluster): Promise<string[]> {
  const key = await openFacadeKey(cluster)
  const place = (cloid: string): Promise<Answer> =>
    until('the relayer is not paused', async () => {
      const answer = await ask(cluster, () => captureEnvelope(key, restingOrder(cloid)))
      return isPaused(answer) ? undefined : answer
    })
  // What comes back of earlier orders meanwhile would not be known from what the probe takes.
  await until('nothing is set aside', async (saw) => {
    const [held] = await cluster.rows('select count(*) from relay_exits where over_at is null')
    saw(held)
    return held === '0'
  })
  const [before] = await readGas(cluster)
  const probe = freshCloid()
  await place(probe)
  const [after] = await readGas(cluster)
  const budget = after + (after - before) * FITTING_GAS
  await setBudget(cluster, budget)
  const cloids = Array.from({ length: REQUESTS }, freshCloid)
  const answers = await Promise.all(cloids.map(place))
  const [counted, sum] = await readGas(cluster)
  await setBudget(cluster, PLENTY_WEI)
  const texts = answers.map(({ body }) => JSON.stringify(body))
  const isRefused = (text: string): boolean => /"err/.test(text)
  const placed = cloids.filter((_, at) => !isRefused(texts[at]!))
  for (const cloid of [probe, ...placed]) {
    const answer = await ask(cluster, () => captureEnvelope(key, cancellation(cloid)))
    assert.ok(isAccepted(answer), JSON.stringify(answer.body))
  }
  const others = texts.filter((text) => isRefused(text) && !/Gas budget of this service/.test(text))
  return [
    ...unlessEqual('gas', String(counted), String(sum)),
    ...unlessEqual('other refusals', others.slice(0, 3), []),
    ...(placed.length > 0 && placed.length < REQUESTS ? [] : [`${placed.length} of ${REQUESTS} were placed`]),
    ...(counted <= budget ? [] : [`the gas of the day is ${counted}, its budget ${budget}`]),
  ]
}
