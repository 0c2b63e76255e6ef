import type { Order, Position, PreparedOrder } from '@bezel/protocol'
import type { Answer } from '@bezel/testkit/agentClient.ts'
import type { SeededRandom } from '@bezel/testkit/seededRandom.ts'
import type { TradingClient } from '@bezel/testkit/tradingClient.ts'
import type { Wallet } from '../../campaign/wallet.ts'

/** A trader who trades whatever the service's providers do. */
export interface UndauntedTrader {
  readonly client: TradingClient
  readonly wallet: Wallet
  readonly random: SeededRandom
  /** Prefix of the clientIds. */
  readonly name: string
  readonly isOver: () => boolean
  readonly nextBlock: () => Promise<void>
  readonly tally: Tally
}

/** Answers of the service by their operation and outcome, and those that must not be. */
export interface Tally {
  readonly counts: Map<string, number>
  readonly problems: string[]
}

/** Numbers of positions and of resting orders from which on a trader opens no more. */
const MANY_POSITIONS = 4
const MANY_ORDERS = 3

/** Number of blocks that a trader waits for the outcome of an order. */
const PATIENCE_BLOCKS = 6

/** Answers that say that the chain or the service is not there now. */
const AWAY: ReadonlySet<number> = new Set([502, 503])

/** Refusals that no fault of a provider explains. */
const NEVER: ReadonlySet<unknown> = new Set([
  'AGENT_NOT_DELEGATED',
  'AGENT_UNKNOWN',
  'IDEMPOTENCY_CONFLICT',
  'INSUFFICIENT_BALANCE',
  'INSUFFICIENT_ALLOWANCE',
  'INTERNAL_ERROR',
  'MARKET_NOT_FOUND',
  'ORDER_NOT_FOUND',
  'RATE_LIMITED',
  'VALIDATION_ERROR',
])

/** Opens, changes, cancels and closes until it is over. Every prepared order is sent, most are reported. */
export async function tradeUnderFaults(trader: UndauntedTrader): Promise<void> {
  for (let made = 0; !trader.isOver(); made += 1) {
    await act(trader, `${trader.name}-${made}`)
    await trader.nextBlock()
  }
}

async function act(trader: UndauntedTrader, clientId: string): Promise<void> {
  const { random, client } = trader
  const positions = await list<Position>(trader, '/positions', 'listPositions')
  const orders = await list<Order>(trader, '/orders', 'listOpenOrders')
  if (positions === undefined || orders === undefined) return
  const resting = orders.filter(({ status }) => status === 'open')
  const choice = random.next()
  if (positions.length > 0 && (choice < 0.25 || positions.length > MANY_POSITIONS)) {
    const { id, size } = random.pick(positions)
    const body = random.chance(0.4) ? { size: (Number(size) / 2).toFixed(4) } : {}
    return use(trader, await client.request('closePosition', 'POST', `/positions/${id}/close`, body), 'closePosition')
  }
  if (positions.length > 0 && choice < 0.4) {
    const body = { sl: String(40_000 + random.below(100) * 100) }
    const { id, side } = random.pick(positions)
    const path = `/positions/${id}`
    const stop = side === 'long' ? body : { sl: String(70_000 + random.below(100) * 100) }
    return use(trader, await client.request('updatePosition', 'PATCH', path, stop), 'updatePosition')
  }
  if (resting.length > 0 && (choice < 0.6 || resting.length > MANY_ORDERS)) {
    const { id } = random.pick(resting)
    if (random.chance(0.5))
      return use(trader, await client.request('cancelOrder', 'DELETE', `/orders/${id}`), 'cancelOrder')
    const body = { price: String(50_000 + random.below(50) * 100) }
    return use(trader, await client.request('updateOrder', 'PATCH', `/orders/${id}`, body), 'updateOrder')
  }
  const body = random.chance(0.6) ? marketOrder(random) : limitOrder(random)
  return use(trader, await client.request('createOrder', 'POST', '/orders', { ...body, clientId }), 'createOrder')
}

function marketOrder(random: SeededRandom): object {
  return { ...terms(random), side: random.pick(['long', 'short']), type: 'market', slippage: '3' }
}

function limitOrder(random: SeededRandom): object {
  return { ...terms(random), side: 'long', type: 'limit', price: String(50_000 + random.below(50) * 100) }
}

function terms(random: SeededRandom): object {
  return { market: 'BTC/USD', size: random.pick(['0.01', '0.02', '0.03']), leverage: random.pick(['5', '10', '25']) }
}

async function list<Item>(
  { client, tally }: UndauntedTrader,
  path: string,
  operation: string,
): Promise<readonly Item[] | undefined> {
  const answer = await client.account(path, operation)
  count(tally, operation, answer)
  return answer.status === 200 ? (answer.body.data as Item[]) : undefined
}

/** Sends the transaction of a prepared order, reports it, and waits a while for what becomes of it. */
async function use(trader: UndauntedTrader, answer: Answer, operation: string): Promise<void> {
  const { client, wallet, random, tally, nextBlock } = trader
  count(tally, operation, answer)
  if (answer.status >= 300) return
  const { order, transaction } = answer.body as PreparedOrder
  if (transaction === null) return
  const hash = await wallet.send(transaction, async () => true)
  if (hash !== undefined && random.chance(0.8) && order !== undefined) {
    count(tally, 'submitOrder', await client.submit(order.id, hash))
  }
  for (let blocks = 0; blocks < PATIENCE_BLOCKS && !trader.isOver(); blocks += 1) {
    await nextBlock()
    if (order === undefined) continue
    const now = await client.request('getOrder', 'GET', `/orders/${order.id}`)
    count(tally, 'getOrder', now)
    if (now.status === 200 && !['prepared', 'pending'].includes(now.body.status)) return
  }
}

function count({ counts, problems }: Tally, operation: string, { status, body }: Answer): void {
  const name = status < 300 ? operation : `${operation} refused: ${body.code} ${body.details?.reason ?? ''}`.trimEnd()
  counts.set(name, (counts.get(name) ?? 0) + 1)
  const isWrong = NEVER.has(body.code) || (status >= 500 && !AWAY.has(status))
  if (isWrong) problems.push(`${operation}: ${status} ${JSON.stringify(body)}`)
}
