import { StartupError, type ChainSlug } from '@bezel/protocol'
import { probeChain, type ChainProbe } from './probeChain.ts'
import type { ServedChain } from './servedChain.ts'

/** Whether each chain can be used, known without asking its node: a background round keeps the answer fresh. */
export interface ChainReadiness {
  readonly isReady: (slug: ChainSlug) => boolean
  readonly close: () => void
}

/** Called when a chain becomes ready or stops being so. */
export type OnChainStateChange = (slug: ChainSlug, state: ChainProbe['state']) => void

/**
 * Looks at every chain once, then again `intervalMs` after each round. Throws a `StartupError` when a node is not on the configured chain or
 * has no Diamond, because that can't heal by waiting; a node that is down can, so it only leaves its chain not ready.
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
  let timer = setTimeout(nextRound, of.intervalMs)
  let isClosed = false

  async function nextRound(): Promise<void> {
    const found = await probeAll(chains)
    if (isClosed) return
    for (const { chain, probe } of found) record(chain.slug, probe)
    timer = setTimeout(nextRound, of.intervalMs)
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
      clearTimeout(timer)
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
