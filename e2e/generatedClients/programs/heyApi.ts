import { client } from './generated/client.gen'
import {
  closePosition,
  createAgent,
  createOrder,
  getOrder,
  listPositions,
  previewOrder,
  submitOrder,
} from './generated/sdk.gen'
import type { PreparedOrder } from './generated/types.gen'
import type { Tools, Traded } from './tools'

const chain = 'arbitrum-sepolia'
const request = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.01', leverage: '10' } as const

/** Opens and closes a position with a client that @hey-api/openapi-ts has written. */
export async function trade(tools: Tools): Promise<Traded> {
  client.setConfig({ baseUrl: tools.baseUrl, fetch: tools.fetch, throwOnError: true })
  const account = { chain, address: tools.trader } as const

  const sent = async ({ order, transaction }: PreparedOrder) => {
    if (transaction === null) throw new Error('there is nothing to send')
    const path = { chain, id: order.id } as const
    const txHash = await tools.send('agent', transaction)
    await submitOrder({ path, body: { txHash }, throwOnError: true })
    const { fill } = await tools.filled(async () => (await getOrder({ path, throwOnError: true })).data)
    if (fill === null) throw new Error('a filled order has a fill')
    return fill
  }

  const { agent, delegationTx } = (
    await createAgent({ path: { chain }, body: tools.authorization, throwOnError: true })
  ).data
  if (agent.status !== 'pending_delegation' || delegationTx === null) throw new Error(`the agent is ${agent.status}`)
  await tools.send('trader', delegationTx)

  const { data: preview } = await previewOrder({ path: account, query: request, throwOnError: true })
  const opened = await sent((await createOrder({ path: { chain }, body: request, throwOnError: true })).data)
  if (opened.positionId === null) throw new Error('an opened order has a position')
  const path = { chain, id: opened.positionId } as const
  const closed = await sent((await closePosition({ path, body: {}, throwOnError: true })).data)
  const { data: positions } = await listPositions({ path: account, throwOnError: true })
  return { preview, opened, closed, left: positions.data.length }
}
