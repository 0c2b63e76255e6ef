import { NodeUnavailableError } from '../ground/unavailable.ts'
import { rememberChain, refuseOtherDiamond } from '../store/chainStore.ts'
import type { Store } from '../store/sql.ts'
import type { RpcClient } from './rpcClient.ts'
import type { ServedChain } from './servedChain.ts'

/**
 * Makes sure that the store's data is of this very chain, and remembers the chain at its first start. Throws a `StartupError` when it is of
 * another one, `NodeUnavailableError` when the node does not tell which one it is on.
 */
export async function verifyChain(
  store: Store,
  { slug: chain, chainId, diamond }: ServedChain,
  client: RpcClient,
): Promise<void> {
  await refuseOtherDiamond(store, { chain, chainId, diamond })
  await rememberChain(store, { chain, chainId, diamond, genesisHash: await readGenesisHash(client) })
}

/** Like `verifyChain`, for the start: a node that is down can come back, so only a wrong chain is an error. */
export async function refuseOtherChain(store: Store, chain: ServedChain, client: RpcClient): Promise<void> {
  try {
    await verifyChain(store, chain, client)
  } catch (error) {
    if (!(error instanceof NodeUnavailableError)) throw error
  }
}

async function readGenesisHash(client: RpcClient): Promise<string> {
  const [outcome] = await client.batch([{ method: 'eth_getBlockByNumber', params: ['0x0', false] }])
  const hash = outcome?.ok ? (outcome.result as { hash?: unknown } | null)?.hash : undefined
  if (typeof hash === 'string' && /^0x[0-9a-f]{64}$/i.test(hash)) return hash.toLowerCase()
  throw new NodeUnavailableError('the node gave no first block')
}
