import { diamondAbi, type Order, type Position } from '@bezel/protocol'
import type { Address, Hex } from 'viem'
import type { ChainClient } from '@bezel/testkit/chainClient.ts'
import type { CampaignClient } from './campaignClient.ts'
import type { ChainTruth } from './chainTruth.ts'
import { statusesOf } from './checkStore.ts'
import type { Broadcast, Journal } from './journal.ts'

export interface CheckOptions {
  readonly chain: ChainClient
  readonly journal: Journal
  /** One client for each trader. */
  readonly clients: readonly CampaignClient[]
}

/** Returns everything in the service's answers that contradicts the chain, or an earlier acknowledgement. */
export async function problemsOfAnswers(options: CheckOptions, truth: ChainTruth): Promise<string[]> {
  const problems: string[] = []
  for (const client of options.clients) {
    const history = await readHistory(client)
    problems.push(...problemsOfHistory(history))
    problems.push(...(await problemsOfAcknowledged(options, client, history, truth)))
    problems.push(...(await problemsOfHoldings(options.chain, client)))
  }
  return problems
}

async function readHistory(client: CampaignClient): Promise<Order[]> {
  const orders: Order[] = []
  for (let cursor: string | null = ''; cursor !== null;) {
    const query: string = `?limit=500${cursor === '' ? '' : `&cursor=${cursor}`}`
    const path = `/account/${client.trader.address}/orders/history${query}`
    const { status, body } = await client.ask('listOrderHistory', 'GET', path)
    if (status !== 200) throw new Error(`the history was refused: ${JSON.stringify(body)}`)
    orders.push(...body.data)
    cursor = body.nextCursor
  }
  return orders
}

function problemsOfHistory(history: readonly Order[]): string[] {
  const ids = history.map(({ id }) => id)
  const clientIds = history.map(({ clientId }) => clientId).filter((clientId) => clientId !== null)
  return [
    ...(new Set(ids).size === ids.length ? [] : ['the history shows an order twice']),
    ...(new Set(clientIds).size === clientIds.length ? [] : ['the history shows a clientId twice']),
  ]
}

/** Checks that no acknowledged order is lost, and that each has the state that it has on the chain. */
async function problemsOfAcknowledged(
  { journal }: CheckOptions,
  client: CampaignClient,
  history: readonly Order[],
  truth: ChainTruth,
): Promise<string[]> {
  const problems: string[] = []
  const byId = new Map(history.map((order) => [order.id, order]))
  const sentFor = Map.groupBy(journal.broadcasts, ({ orderId }) => orderId)
  for (const known of [...journal.orders.values()].filter(({ agent }) => agent === client.agent.address)) {
    const { status, body } = await client.ask('getOrder', 'GET', `/orders/${known.id}`)
    const order = body as Order
    const listed = byId.get(known.id)
    const expected = expectedOf(journal, known.id, sentFor.get(known.id) ?? [], truth)
    if (status !== 200) problems.push(`order ${known.id} is lost: ${status} ${JSON.stringify(body)}`)
    else if (order.clientId !== known.clientId) problems.push(`order ${known.id} has clientId ${order.clientId}`)
    else if (listed?.status !== order.status)
      problems.push(`order ${known.id} is ${order.status} and ${listed?.status}`)
    else if (!expected.includes(order.status)) {
      problems.push(`order ${known.id} is ${order.status}, what was sent for it says ${expected.join(' or ')}`)
    }
  }
  return problems
}

/** Returns the allowed statuses of an order, by the transactions sent to the chain for it. */
function expectedOf(
  journal: Journal,
  id: string,
  sent: readonly Broadcast[],
  { creations }: ChainTruth,
): readonly string[] {
  const purposes = new Map(sent.map(({ hash, purpose }) => [hash, purpose]))
  const made = creations.filter(({ txHash }) => purposes.has(txHash))
  const opened = made.find(({ txHash }) => purposes.get(txHash) === 'open')?.txHash
  const own = made.filter(({ txHash }) => txHash === opened || purposes.get(txHash) === 'change')
  if (own.length > 0) return statusesOf(own)
  const isSent = sent.some(({ purpose }) => purpose === 'open')
  if (!isSent) return ['expired']
  // Without a creation the order failed. The service certainly knows that when the transaction was reported, and none
  // after it.
  const reports = new Set<Hex>(journal.reported.get(id))
  const isReported = reports.size === 1 && sent.some(({ hash }) => reports.has(hash))
  return isReported ? ['rejected'] : ['rejected', 'expired']
}

/** Returns the differences between the positions and orders that a client is shown, and the chain. */
export async function problemsOfHoldings(chain: ChainClient, client: CampaignClient): Promise<string[]> {
  const trader = client.trader.address
  const account = `/account/${trader}`
  const positions: Position[] = (await client.ask('listPositions', 'GET', `${account}/positions`)).body.data
  const orders: Order[] = (await client.ask('listOpenOrders', 'GET', `${account}/orders`)).body.data
  const trades = await readTrades(chain, trader)
  const { decimals } = chain.collateral('USDC')
  const held = trades.filter(({ tradeType }) => tradeType === 0)
  const resting = trades.filter(({ tradeType }) => tradeType !== 0)
  return [
    ...difference(
      `positions of ${trader}`,
      positions.map(({ side, collateral, leverage, entryPrice, sl, tp }) =>
        [side, Number(collateral), Number(leverage), Number(entryPrice), Number(sl), Number(tp)].join(' '),
      ),
      held.map(({ long, collateralAmount, leverage, openPrice, sl, tp }) =>
        [side(long), units(collateralAmount, decimals), leverage / 1e3, price(openPrice), price(sl), price(tp)].join(
          ' ',
        ),
      ),
    ),
    ...difference(
      `open orders of ${trader}`,
      orders.map((order) =>
        [order.status, order.type, order.side, Number(order.price), Number(order.leverage)].join(' '),
      ),
      resting.map(({ tradeType, long, openPrice, leverage }) =>
        ['open', tradeType === 1 ? 'limit' : 'stop', side(long), price(openPrice), leverage / 1e3].join(' '),
      ),
    ),
  ]
}

const side = (long: boolean): string => (long ? 'long' : 'short')
const units = (amount: bigint, decimals: number): number => Number(amount) / 10 ** decimals
const price = (value: bigint): number => Number(value) / 1e10

function difference(what: string, answered: readonly string[], onChain: readonly string[]): string[] {
  const [left, right] = [answered.toSorted(), onChain.toSorted()]
  if (left.join('\n') === right.join('\n')) return []
  return [`${what}: the service says ${JSON.stringify(left)}, the chain ${JSON.stringify(right)}`]
}

export async function readTrades({ client, diamond }: ChainClient, trader: Address) {
  return client.readContract({ address: diamond, abi: diamondAbi, functionName: 'getTrades', args: [trader] })
}

export async function readPending({ client, diamond }: ChainClient, trader: Address) {
  return client.readContract({ address: diamond, abi: diamondAbi, functionName: 'getPendingOrders', args: [trader] })
}
