import type { Address } from '@bezel/protocol'
import type { AccountLog } from '../../journal/accountLog.ts'
import type { Feed } from '../../market/feed.ts'
import type { CandleSource, TradeSource } from '../../stream/topics/publicSources.ts'
import type { Turns } from '../../ground/turns.ts'
import type { FacadeReads } from '../facadeReads.ts'

/** What the channels of one chain's facade are made from. */
export interface FacadeStreamSources {
  readonly reads: FacadeReads
  readonly feed: Pick<Feed, 'onTick'>
  readonly candles: Pick<CandleSource, 'onChange' | 'onRepaired'>
  readonly trades: Pick<TradeSource, 'onTrades' | 'onTakenBack'>
  readonly log: Pick<AccountLog, 'lastSeq' | 'read' | 'onAppend'>
  /** Somebody listens to this trader: what emits no event is looked at in rounds. Returns what ends it. */
  readonly watch: (trader: Address) => () => void
  /** For reads of the store; shared by all chains of a process. */
  readonly turns: Turns
  /** Something could not be read; it is asked again. */
  readonly onError: (error: unknown) => void
}
