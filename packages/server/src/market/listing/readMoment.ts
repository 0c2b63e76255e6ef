import { NodeUnavailableError } from '../../ground/unavailable.ts'
import type { RpcClient } from '../../chain/rpcClient.ts'
import type { Moment } from '../../trading/valuation/chainState.ts'

/** The node's newest block. */
export async function readMoment(client: RpcClient): Promise<Moment> {
  const [outcome] = await client.batch([{ method: 'eth_getBlockByNumber', params: ['latest', false] }])
  const block = outcome?.ok ? (outcome.result as { number?: unknown; timestamp?: unknown } | null) : undefined
  const blockNumber = quantity(block?.number)
  const timestampS = quantity(block?.timestamp)
  if (blockNumber === undefined || timestampS === undefined) {
    throw new NodeUnavailableError('the node gave no newest block')
  }
  return { blockNumber, timestampS }
}

function quantity(value: unknown): number | undefined {
  return typeof value === 'string' && /^0x[0-9a-f]{1,13}$/i.test(value) ? Number(value) : undefined
}
