import type { SourcesSetting } from '../../settings/config.ts'
import { CHAINS } from '@bezel/protocol'
import type { ServedChain } from '../../chain/servedChain.ts'
import type { PhantomSource } from './phantomSource.ts'

/** The testnet's first: most clients sign with it when they are pointed away from the exchange itself. */
const BOTH: readonly PhantomSource[] = ['b', 'a']

const TESTNET: readonly PhantomSource[] = ['b']

/**
 * Which networks an envelope may be signed for. The scheme binds neither chain nor service, so where real money is at stake only the testnet's
 * is taken: an envelope meant for the exchange's own mainnet can then never be replayed here.
 */
export function allowedSources(
  chain: Pick<ServedChain, 'slug' | 'testnet' | 'diamond'>,
  setting: SourcesSetting,
): readonly PhantomSource[] {
  if (setting !== 'auto') return setting === 'both' ? BOTH : TESTNET
  const isLive = chain.diamond === CHAINS[chain.slug].liveDiamond
  return isLive && !chain.testnet ? TESTNET : BOTH
}
