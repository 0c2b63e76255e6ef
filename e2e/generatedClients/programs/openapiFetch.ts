import createClient from 'openapi-fetch'
import type { components, paths } from './schema.ts'
import type { Tools, Traded } from './tools.ts'

const chain = 'arbitrum-sepolia'
const request = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.01', leverage: '10' } as const

type Order = components['schemas']['Order']

/** Returns the data of an answer. Throws the refusal. */
function data<Data>(answer: { data?: Data; error?: unknown }): Data {
  if (answer.data === undefined) throw new Error(JSON.stringify(answer.error))
  return answer.data
}

/** Opens and closes a position with types of openapi-typescript and the client of openapi-fetch. */
export async function trade(tools: Tools): Promise<Traded> {
  const client = createClient<paths>({ baseUrl: tools.baseUrl, fetch: tools.fetch })
  const account = { chain, address: tools.trader } as const

  const sent = async ({ order, transaction }: components['schemas']['PreparedOrder']) => {
    if (transaction === null) throw new Error('there is nothing to send')
    const path = { chain, id: order.id } as const
    const txHash = await tools.send('agent', transaction)
    data(await client.POST('/v1/{chain}/orders/{id}/submit', { params: { path }, body: { txHash } }))
    const read = async (): Promise<Order> => data(await client.GET('/v1/{chain}/orders/{id}', { params: { path } }))
    const { fill } = await tools.filled(read)
    if (fill === null) throw new Error('a filled order has a fill')
    return fill
  }

  const agents = { params: { path: { chain } }, body: tools.authorization } as const
  const { agent, delegationTx } = data(await client.POST('/v1/{chain}/agents', agents))
  if (agent.status !== 'pending_delegation' || delegationTx === null) throw new Error(`the agent is ${agent.status}`)
  await tools.send('trader', delegationTx)

  const asked = { params: { path: account, query: request } }
  const preview = data(await client.GET('/v1/{chain}/account/{address}/preview/order', asked))
  const opened = await sent(
    data(await client.POST('/v1/{chain}/orders', { params: { path: { chain } }, body: request })),
  )
  if (opened.positionId === null) throw new Error('an opened order has a position')
  const path = { chain, id: opened.positionId } as const
  const closed = await sent(data(await client.POST('/v1/{chain}/positions/{id}/close', { params: { path }, body: {} })))
  const positions = await client.GET('/v1/{chain}/account/{address}/positions', { params: { path: account } })
  return { preview, opened, closed, left: data(positions).data.length }
}
