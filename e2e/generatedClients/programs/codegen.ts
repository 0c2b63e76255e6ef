import {
  AccountService,
  AgentsService,
  OpenAPI,
  OrdersService,
  PositionsService,
  type PreparedOrder,
} from './generated/index'
import type { Tools, Traded } from './tools'

const chain = 'arbitrum-sepolia'
const request = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.01', leverage: '10' } as const

/** Opens and closes a position with a client that openapi-typescript-codegen has written. */
export async function trade(tools: Tools): Promise<Traded> {
  OpenAPI.BASE = tools.baseUrl
  // This client takes no fetch of one's own.
  globalThis.fetch = tools.fetch
  const account = { chain, address: tools.trader } as const

  const sent = async ({ order: { id }, transaction }: PreparedOrder) => {
    if (transaction === null) throw new Error('there is nothing to send')
    const txHash = await tools.send('agent', transaction)
    await OrdersService.submitOrder({ chain, id, requestBody: { txHash } })
    const { fill } = await tools.filled(() => OrdersService.getOrder({ chain, id }))
    if (fill === null) throw new Error('a filled order has a fill')
    return fill
  }

  const { agent, delegationTx } = await AgentsService.createAgent({ chain, requestBody: tools.authorization })
  if (agent.status !== 'pending_delegation' || delegationTx === null) throw new Error(`the agent is ${agent.status}`)
  await tools.send('trader', delegationTx)

  const preview = await AccountService.previewOrder({ ...account, ...request })
  const opened = await sent(await OrdersService.createOrder({ chain, requestBody: request }))
  if (opened.positionId === null) throw new Error('an opened order has a position')
  const closed = await sent(await PositionsService.closePosition({ chain, id: opened.positionId, requestBody: {} }))
  const positions = await AccountService.listPositions(account)
  return { preview, opened, closed, left: positions.data.length }
}
