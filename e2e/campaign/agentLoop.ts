import type { Order, Position, PreparedOrder } from '@bezel/protocol'
import type { Answer } from '@bezel/testkit/agentClient.ts'
import type { CampaignClient } from './campaignClient.ts'
import type { KnownTransaction } from './journal.ts'
import type { SeededRandom } from '@bezel/testkit/seededRandom.ts'
import { createSender, type Sender, type SenderOptions } from './sender.ts'

/** The body of a request. */
type Body = Readonly<Record<string, unknown>>

/** The options of one of an agent's parallel loops. */
export interface AgentLoopOptions extends SenderOptions {
  /** The name of the loop, also the prefix of its clientIds. */
  readonly name: string
  readonly isOver: () => boolean
}

/**
 * The number of positions or orders from which on the loop closes some, so that a growing account does not slow
 * everything down.
 */
const MANY_POSITIONS = 8
const MANY_ORDERS = 8

const SHOULD_NEVER_BE: ReadonlySet<unknown> = new Set([
  'IDEMPOTENCY_CONFLICT',
  'ORDER_NOT_FOUND',
  'VALIDATION_ERROR',
  'AGENT_NOT_DELEGATED',
  'AGENT_UNKNOWN',
  'RATE_LIMITED',
])

interface Trading extends AgentLoopOptions {
  readonly sender: Sender
}

/** Trades at random until `isOver`, and writes every answer of the service into the journal. */
export async function runAgentLoop(options: AgentLoopOptions): Promise<void> {
  const trading: Trading = { ...options, sender: createSender(options) }
  const { random, isOver } = options
  for (let made = 0; !isOver(); made++) {
    await act(trading, `${options.name}-${made}`)
    if (random.chance(0.15)) await tidy(trading)
  }
}

async function act(trading: Trading, clientId: string): Promise<void> {
  const { random, sender } = trading
  const choice = random.next()
  if (choice < 0.3) return create(trading, clientId, marketOrder(random))
  if (choice < 0.5) return create(trading, clientId, restingOrder(random))
  if (choice < 0.55) return create(trading, clientId, reducingOrder(random))
  if (choice < 0.75) return change(trading, await openOrders(trading))
  if (choice < 0.82) return sender.sendKept()
  return close(trading, await positions(trading))
}

async function tidy(trading: Trading): Promise<void> {
  const held = await positions(trading)
  if (held.length > MANY_POSITIONS) await close(trading, held)
  const orders = await openOrders(trading)
  if (orders.length > MANY_ORDERS) await change(trading, orders)
}

/** Returns the body of a successful answer; otherwise `undefined`. */
async function ask(
  { client, journal }: Trading,
  ...[operation, method, path, body]: Parameters<CampaignClient['ask']>
): Promise<Answer['body'] | undefined> {
  const answer = await client.ask(operation, method, path, body)
  const isGood = answer.status < 300
  // Other refusals come from the account or the chain; these codes would be a fault of the service.
  if (SHOULD_NEVER_BE.has(answer.body.code)) {
    journal.problems.push(`${operation} ${path} ${JSON.stringify(body)} -> ${JSON.stringify(answer.body)}`)
  }
  journal.count(isGood ? operation : `${operation} refused: ${answer.body.code}`)
  return isGood ? answer.body : undefined
}

async function positions(trading: Trading): Promise<readonly Position[]> {
  const path = `/account/${trading.client.trader.address}/positions`
  return (await ask(trading, 'listPositions', 'GET', path))?.data ?? []
}

async function openOrders(trading: Trading): Promise<readonly Order[]> {
  const path = `/account/${trading.client.trader.address}/orders`
  return (await ask(trading, 'listOpenOrders', 'GET', path))?.data ?? []
}

async function create(trading: Trading, clientId: string, body: Body): Promise<void> {
  const { journal, random, sender } = trading
  journal.tell(clientId, `createOrder ${JSON.stringify(body)}`)
  const made = await askForOrder(trading, clientId, body)
  if (made === undefined) return
  if (made.transaction !== null) await sender.use(knownOf(trading, made, 'open'))
  if (!random.chance(0.25)) return
  const again = await askForOrder(trading, clientId, body)
  const isOther = again?.transaction?.data !== made.transaction?.data
  // Sending the same transaction twice makes a second trade: a mistake of the agent, which the service must report as
  // well.
  if (again?.transaction && (isOther || random.chance(0.3))) sender.keep(knownOf(trading, again, 'open'))
}

async function askForOrder(trading: Trading, clientId: string, body: Body): Promise<PreparedOrder | undefined> {
  const { client, journal } = trading
  const answer: PreparedOrder | undefined = await ask(trading, 'createOrder', 'POST', '/orders', { ...body, clientId })
  if (answer === undefined) return undefined
  const { order, transaction } = answer
  journal.acknowledge(client.agent.address, clientId, order)
  journal.tell(order.id, `answered ${order.status} with ${transaction === null ? 'no' : 'a'} transaction`)
  return answer
}

function knownOf(
  { client }: Trading,
  { order, transaction }: PreparedOrder,
  purpose: KnownTransaction['purpose'],
): KnownTransaction {
  return { orderId: order.id, purpose, agent: client.agent.address, transaction: transaction! }
}

/** Updates or cancels one of these orders. */
async function change(trading: Trading, orders: readonly Order[]): Promise<void> {
  const { journal, random, sender } = trading
  const changeable = orders.filter(({ status }) => status === 'open' || status === 'prepared')
  if (changeable.length === 0) return
  const { id, status } = random.pick(changeable)
  const isUpdate = status === 'open' && random.chance(0.5)
  const body = random.chance(0.5) ? { price: randomPrice(random) } : { size: randomSize(random) }
  journal.tell(id, isUpdate ? `updateOrder ${JSON.stringify(body)}` : 'cancelOrder')
  const answer: PreparedOrder | undefined = isUpdate
    ? await ask(trading, 'updateOrder', 'PATCH', `/orders/${id}`, body)
    : await ask(trading, 'cancelOrder', 'DELETE', `/orders/${id}`)
  if (answer === undefined) return
  journal.tell(id, `answered ${answer.order.status}`)
  if (answer.transaction !== null && random.chance(0.85)) await sender.send(knownOf(trading, answer, 'change'))
}

/** Closes one of these positions, or half of it. */
async function close(trading: Trading, held: readonly Position[]): Promise<void> {
  const { client, journal, random, sender } = trading
  if (held.length === 0) return
  const { id, size } = random.pick(held)
  const body = random.chance(0.3) ? { size: (Number(size) / 2).toFixed(4) } : {}
  const answer: PreparedOrder | undefined = await ask(trading, 'closePosition', 'POST', `/positions/${id}/close`, body)
  if (answer === undefined) return
  journal.acknowledge(client.agent.address, null, answer.order)
  journal.tell(answer.order.id, `closes position ${id} ${JSON.stringify(body)}`)
  await sender.use(knownOf(trading, answer, 'open'))
}

function randomSize(random: SeededRandom): string {
  return random.pick(['0.01', '0.015', '0.02', '0.03'])
}

/** Returns a price on either side of the range in which the price moves. */
function randomPrice(random: SeededRandom): string {
  return String(58_000 + random.below(36) * 100)
}

function marketOrder(random: SeededRandom): Body {
  const side = random.pick(['long', 'short'] as const)
  const stops = side === 'long' ? { tp: '61200', sl: '57500' } : { tp: '58200', sl: '62000' }
  return { ...sharedTerms(random), side, type: 'market', slippage: '3', ...(random.chance(0.3) ? stops : {}) }
}

function restingOrder(random: SeededRandom): Body {
  const side = random.pick(['long', 'short'])
  return { ...sharedTerms(random), side, type: random.pick(['limit', 'stop']), price: randomPrice(random) }
}

/** Returns an order that closes several positions when there are several. */
function reducingOrder(random: SeededRandom): Body {
  const side = random.pick(['long', 'short'])
  return { ...sharedTerms(random), side, type: 'market', size: '0.05', slippage: '3', reduceOnly: true }
}

function sharedTerms(random: SeededRandom): Body {
  return { market: 'BTC/USD', size: randomSize(random), leverage: random.pick(['5', '10', '25']) }
}
