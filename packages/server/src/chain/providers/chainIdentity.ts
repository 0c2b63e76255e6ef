import { StartupError } from '@bezel/protocol'
import { resultOf } from '../blocks.ts'
import { createProvider } from './provider.ts'
import type { ServedChain } from '../servedChain.ts'
import { NodeUnavailableError } from '../../ground/unavailable.ts'
import { rememberChain, refuseOtherDiamond } from '../../store/chainStore.ts'
import type { Store } from '../../store/sql.ts'
import { chainIdCall, type RpcClient } from '../rpcClient.ts'

/**
 * Probes the providers of every chain. Throws a `StartupError` when a node is on another chain than configured or has
 * no Diamond, because waiting cannot mend that. A node that is down may come back, so nothing is said of it.
 */
export async function refuseWrongNodes(chains: readonly ServedChain[]): Promise<void> {
  const probes = await Promise.all(chains.map(probeChain))
  for (const [at, probe] of probes.entries()) refuseWrongNode(chains[at]!, probe)
}

function refuseWrongNode(chain: ServedChain, probe: ChainProbe): void {
  if (probe.state === 'wrong_chain') {
    throw new StartupError(
      `The node configured for ${chain.slug} is on chain ${probe.chainId}, not ${chain.chainId}: correct its rpcUrls in the chains file.`,
    )
  }
  if (probe.state === 'no_diamond') {
    throw new StartupError(
      `There is no contract at ${chain.diamond} on ${chain.slug}: correct the diamond in the chains file, or start the local chain again if it wrote that file.`,
    )
  }
}

/** Timeout of one probe request; a slower node counts as unreachable. */
const PROBE_TIMEOUT_MS = 2_000

/** Result of one probe of a chain's node. */
type ChainProbe =
  | { readonly state: 'ready' }
  /** The node is down, too slow, or answers garbage; the next probe may succeed. */
  | { readonly state: 'unreachable' }
  | { readonly state: 'wrong_chain'; readonly chainId: number }
  | { readonly state: 'no_diamond' }

/**
 * Asks every provider for its chain id and for the code of the Diamond. One that is as it must be is enough: the others
 * are judged when they are asked. Never throws.
 */
async function probeChain(chain: ServedChain): Promise<ChainProbe> {
  const probes = await Promise.all(chain.rpcUrls.map(({ url }) => probeProvider(chain, url)))
  const byState = (state: ChainProbe['state']) => probes.find((probe) => probe.state === state)
  return byState('ready') ?? byState('unreachable') ?? probes[0] ?? { state: 'unreachable' }
}

async function probeProvider(chain: ServedChain, url: string): Promise<ChainProbe> {
  const { send } = createProvider({ url, timeoutMs: PROBE_TIMEOUT_MS })
  try {
    const [chainId, code] = await send([chainIdCall, { method: 'eth_getCode', params: [chain.diamond, 'latest'] }])
    return judge(chain, resultOf(chainId), resultOf(code))
  } catch {
    return { state: 'unreachable' }
  }
}

function judge(chain: ServedChain, chainId: unknown, code: unknown): ChainProbe {
  const isChainId = typeof chainId === 'string' && /^0x[0-9a-f]{1,13}$/i.test(chainId)
  const isCode = typeof code === 'string' && /^0x([0-9a-f]{2})*$/i.test(code)
  if (!isChainId || !isCode) return { state: 'unreachable' }
  if (Number(chainId) !== chain.chainId) return { state: 'wrong_chain', chainId: Number(chainId) }
  return { state: code === '0x' ? 'no_diamond' : 'ready' }
}

/**
 * Checks that the data in the store belongs to this chain, and records the chain's identity at its first start. Throws
 * a `StartupError` when the data belongs to another chain, and `NodeUnavailableError` when the node does not return its
 * genesis block.
 */
export async function verifyChain(
  store: Store,
  { slug: chain, chainId, diamond }: ServedChain,
  client: RpcClient,
): Promise<void> {
  await refuseOtherDiamond(store, { chain, chainId, diamond })
  await rememberChain(store, { chain, chainId, diamond, genesisHash: await readGenesisHash(client) })
}

/**
 * Runs `verifyChain` at startup but ignores an unavailable node, because it may come back; only a wrong chain throws.
 */
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
