import { createPublicClient, http } from 'viem'
import type { ServedChain } from './servedChain.ts'

/** How long a node may take before it counts as unreachable. */
const PROBE_TIMEOUT_MS = 2_000

/** What a look at a chain's node found. */
export type ChainProbe =
  | { readonly state: 'ready' }
  /** Down, too slow, or its answers make no sense: it may be back at the next look. */
  | { readonly state: 'unreachable' }
  | { readonly state: 'wrong_chain'; readonly chainId: number }
  | { readonly state: 'no_diamond' }

/** Asks the node which chain it is and whether the Diamond is there. Never throws. */
export async function probeChain(chain: ServedChain): Promise<ChainProbe> {
  const client = createPublicClient({ transport: http(chain.rpcUrl, { timeout: PROBE_TIMEOUT_MS, retryCount: 0 }) })
  try {
    // Raw requests: viem's own actions read a null or an empty list as chain 0, which would look like a wrong chain.
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
