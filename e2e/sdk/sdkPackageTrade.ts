import { createBezelClient, privateKeySender, type OrderStatus } from '@bezel/sdk'
import { privateKeyToAccount } from 'viem/accounts'

/** The addresses to trade at, and the keys. */
export interface TradeSettings {
  readonly baseUrl: string
  readonly rpcUrl: string
  readonly diamond: `0x${string}`
  readonly traderKey: `0x${string}`
  readonly agentKey: `0x${string}`
}

/** The result of the trade. */
export interface TradeReport {
  readonly price: string
  /** Statuses of the order that opened the position, from the stream. */
  readonly statuses: readonly OrderStatus[]
  readonly filled: { readonly size: string; readonly price: string }
  readonly positions: readonly [before: number, after: number]
  readonly closed: { readonly size: string; readonly price: string }
  /** Sequence numbers of the whole log. */
  readonly seqs: readonly number[]
}

/**
 * Opens a position and closes it, as a program of another project does: compiled there, and run in node or in a page.
 */
export async function trade({ baseUrl, rpcUrl, diamond, traderKey, agentKey }: TradeSettings): Promise<TradeReport> {
  const trader = privateKeyToAccount(traderKey)
  const agent = privateKeyToAccount(agentKey)
  const sender = privateKeySender({ account: agent, rpcUrl })
  const client = createBezelClient({ chain: 'arbitrum-sepolia', baseUrl, agent, sender, diamond })
  const fast = { pollMs: 100 }

  await client.agents.authorize({ trader })
  await client.agents.delegate({ sender: privateKeySender({ account: trader, rpcUrl }), ...fast })
  let price = ''
  for await (const { data } of client.stream().prices({ markets: ['BTC/USD'] })) {
    price = data[0]?.mark ?? ''
    break
  }

  const told = client.stream().orders()
  // Reads the snapshot. Every later change comes as an event.
  await told.next()
  const request = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' } as const
  const order = await client.orders.create(request)
  const statuses: OrderStatus[] = []
  for await (const event of told) {
    if (event.snapshot || event.data.id !== order.id) continue
    statuses.push(event.data.status)
    if (event.data.status === 'filled') break
  }
  const { fill } = await order.waitForFill(fast)

  const opened = await client.positions.list()
  const position = opened[0]
  if (position === undefined) throw new Error('the order was filled, but there is no position')
  const closing = await client.positions.close(position.id)
  const { fill: closingFill } = await closing.waitForFill(fast)
  const seqs: number[] = []
  for await (const event of client.events()) {
    seqs.push(event.seq)
    if (event.channel === 'fills' && event.data.id === closing.id) break
  }
  return {
    price,
    statuses,
    filled: { size: fill.size, price: fill.price },
    positions: [opened.length, (await client.positions.list()).length],
    closed: { size: closingFill.size, price: closingFill.price },
    seqs,
  }
}
