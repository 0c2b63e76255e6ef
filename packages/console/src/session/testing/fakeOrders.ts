import {
  BezelApiError,
  BroadcastError,
  type BezelClient,
  type NewOrder,
  type Order,
  type TrackedOrder,
  type VerifiedOrder,
} from '@bezel/sdk'
import { HASH, sampleOrder, TRADER } from '../../data/testing/samples.ts'
import type { TradingKey } from '../../data/client.ts'

/** A service that keeps orders, and a chain that counts what was sent to it. */
export interface FakeOrders {
  readonly orders: Order[]
  /** Number of transactions that reached the chain. */
  sent: number
  /** Decides what happens to the next transaction. Default: it is sent and answered. */
  plan: 'send' | 'refuse' | 'lose-answer' | 'lose-transaction' | 'no-gas'
  /** Decides what happens to the next request to prepare. */
  prepares: 'answer' | 'refuse' | 'lose-answer'
  isDown: boolean
  clientOf(key: TradingKey): BezelClient
  readonly key: TradingKey
}

const REQUEST = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.01', leverage: '10' } as const

/** An order to place. */
export const ORDER: NewOrder = REQUEST

/** Creates the service. */
export function createFakeOrders(): FakeOrders {
  const orders: Order[] = []
  const change = (id: string, of: Partial<Order>): void => {
    const place = orders.findIndex((order) => order.id === id)
    orders[place] = { ...orders[place]!, ...of }
  }
  const fake: FakeOrders = {
    orders,
    sent: 0,
    plan: 'send',
    prepares: 'answer',
    isDown: false,
    key: {
      trader: TRADER,
      isWallet: true,
      signer: { address: TRADER, signTypedData: async () => HASH },
      sender: {
        address: TRADER,
        async sendTransaction({ data }) {
          const { plan } = fake
          fake.plan = 'send'
          if (plan === 'refuse') throw Object.assign(new Error('no'), { code: 4001 })
          if (plan === 'no-gas') throw new Error('insufficient funds for gas')
          if (plan === 'lose-transaction') throw new Error('socket hang up')
          fake.sent += 1
          change(String(Number(data)), { status: 'pending' })
          if (plan === 'lose-answer') throw new Error('socket hang up')
          return HASH
        },
      },
    },
    clientOf: (key) => clientOf(fake, key),
  }
  return fake
}

function clientOf(fake: FakeOrders, { sender, signer }: TradingKey): BezelClient {
  const tracked = (order: Order, txHash: TrackedOrder['txHash']): TrackedOrder =>
    ({ id: order.id, order, txHash, status: order.status, warnings: [] }) as never
  async function prepare(request: NewOrder): Promise<Order> {
    await signer.signTypedData({} as never)
    const { prepares } = fake
    fake.prepares = 'answer'
    if (prepares === 'refuse') throw new BezelApiError({ code: 'MARKET_CLOSED', message: 'Closed.', status: 422 })
    const known = fake.orders.find(({ clientId }) => clientId === request.clientId)
    const order = known ?? sampleOrder({ id: String(fake.orders.length + 1), clientId: request.clientId ?? null })
    if (known === undefined) fake.orders.push(order)
    if (prepares === 'lose-answer') throw new TypeError('Failed to fetch')
    return order
  }
  async function send({ id }: Order): Promise<TrackedOrder> {
    const data = `0x${Number(id).toString(16)}` as const
    const transaction = { to: TRADER, data, value: 0n, chainId: 1 } as const
    const txHash = await sender.sendTransaction(transaction).catch((error: unknown) => {
      throw new BroadcastError(error, { orderId: id })
    })
    return tracked(
      fake.orders.find((order) => order.id === id)!,
      txHash,
    )
  }
  const orders = {
    create: async (request: NewOrder) => send(await prepare(request)),
    async prepareVerified(request: NewOrder): Promise<VerifiedOrder> {
      const order = await prepare(request)
      return { order, transaction: null, calls: [], warnings: [], send: () => send(order) }
    },
    async getByClientId(id: string): Promise<Order> {
      if (fake.isDown) throw new TypeError('Failed to fetch')
      const found = fake.orders.find(({ clientId }) => clientId === id)
      if (found === undefined) throw new BezelApiError({ code: 'ORDER_NOT_FOUND', message: 'None.', status: 404 })
      return found
    },
    track: async (order: Order) => tracked(order, null),
  }
  return { chain: 'base', orders, positions: {} } as never
}
