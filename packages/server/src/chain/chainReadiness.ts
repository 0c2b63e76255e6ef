import { StartupError, type ChainSlug } from '@bezel/protocol'
import { poll } from '../ground/poll.ts'
import type { ServedChain } from './servedChain.ts'
import { createPublicClient, http } from 'viem'
import { NodeUnavailableError } from '../ground/unavailable.ts'
import { rememberChain, refuseOtherDiamond } from '../store/chainStore.ts'
import type { Store } from '../store/sql.ts'
import type { RpcClient } from './rpcClient.ts'

/**
 * Readiness of every chain. Answers from memory, without a request to the node; a background poll keeps it up to date.
 */
export interface ChainReadiness {
  readonly isReady: (slug: ChainSlug) => boolean
  readonly close: () => void
}

/** Called when the state of a chain changes. */
export type OnChainStateChange = (slug: ChainSlug, state: ChainProbe['state']) => void

/**
 * Probes every chain once, then again `intervalMs` after each round. Throws a `StartupError` when a node is on another
 * chain than configured or has no Diamond, because waiting cannot mend that. A node that is down may come back, so its
 * chain is merely not ready.
 */
export async function watchChains(
  chains: readonly ServedChain[],
  of: { intervalMs: number; onChange: OnChainStateChange },
): Promise<ChainReadiness> {
  const states = new Map<ChainSlug, ChainProbe['state']>()
  for (const { chain, probe } of await probeAll(chains)) {
    refuseWrongNode(chain, probe)
    record(chain.slug, probe)
  }
  const polling = poll(lookAgain, of.intervalMs)
  let isClosed = false

  async function lookAgain(): Promise<number> {
    const found = await probeAll(chains)
    if (!isClosed) for (const { chain, probe } of found) record(chain.slug, probe)
    return of.intervalMs
  }

  function record(slug: ChainSlug, probe: ChainProbe): void {
    if (states.get(slug) === probe.state) return
    states.set(slug, probe.state)
    of.onChange(slug, probe.state)
  }

  return {
    isReady: (slug) => states.get(slug) === 'ready',
    close: () => {
      isClosed = true
      polling.close()
    },
  }
}

async function probeAll(
  chains: readonly ServedChain[],
): Promise<readonly { readonly chain: ServedChain; readonly probe: ChainProbe }[]> {
  return Promise.all(chains.map(async (chain) => ({ chain, probe: await probeChain(chain) })))
}

function refuseWrongNode(chain: ServedChain, probe: ChainProbe): void {
  if (probe.state === 'wrong_chain') {
    throw new StartupError(
      `The node configured for ${chain.slug} is on chain ${probe.chainId}, not ${chain.chainId}: correct its rpcUrl in the chains file.`,
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

/** Asks the node for its chain id and for the code of the Diamond. Never throws. */
async function probeChain(chain: ServedChain): Promise<ChainProbe> {
  const client = createPublicClient({ transport: http(chain.rpcUrl, { timeout: PROBE_TIMEOUT_MS, retryCount: 0 }) })
  try {
    // Raw requests, because viem's own actions read a null or an empty list as chain 0, which would look like a wrong
    // chain.
    const [chainId, code] = await Promise.all([
      client.request({ method: 'eth_chainId' }),
      client.request({ method: 'eth_getCode', params: [chain.diamond, 'latest'] }),
    ])
    return judge(chain, chainId, code)
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
