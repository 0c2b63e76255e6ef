import type { MinedBlock } from './block.ts'
import type { ChainClock } from './chainClock.ts'
import type { EdrProvider } from './edrProvider.ts'
import type { Exclusive } from './exclusive.ts'
import type { History } from './history.ts'
import type { Listeners } from './listeners.ts'
import type { Mempool } from './mempool.ts'

/** Everything one local chain consists of. Only the functions run by `exclusive` change it. */
export interface ChainState {
  readonly edr: EdrProvider
  readonly clock: ChainClock
  readonly mempool: Mempool
  readonly history: History
  readonly exclusive: Exclusive
  readonly blockListeners: Listeners<MinedBlock>
  head: MinedBlock
  /** How often the chain was rewound; makes the blocks after each rewind different from all before. */
  rewinds: number
  /** How many snapshots callers took; the last one's id. */
  userSnapshots: number
}
