import type { Address, Hex } from '@bezel/protocol'
import type { Sql } from '../../store/sql.ts'
import type { ActionToRelay } from './enqueueAction.ts'
import type { RelayCounts } from './relayContext.ts'

/** Sends the actions of the facade's traders to one chain and pays their gas. */
export interface Relayer {
  readonly address: Address
  /**
   * In the transaction that makes the order: the next nonce is used up and the signed bytes are kept with it, or nothing is. The same attempt
   * again gets the same answer. Throws a `RelayRefusedError` whose message is for the trader.
   */
  enqueue(sql: Sql, of: ActionToRelay): Promise<{ readonly hash: Hex }>
  /**
   * After the commit. Resolves when a node has it, or when it is settled otherwise, or at the close; never rejects. Whether anybody calls it or
   * waits for it, everything that is kept is sent.
   */
  broadcast(hash: Hex): Promise<void>
  /** Tells once, should it come to that, that the action is over in a block and did nothing there. Returns what ends the listening. */
  onFailed(hash: Hex, listener: () => void): () => void
  health(): RelayerHealth
  close(): Promise<void>
}

/** How a relayer is, for `/ready`, metrics and the texts of refusals. In memory. */
export interface RelayerHealth {
  /** `null` until the node was asked. */
  readonly balanceWei: bigint | null
  /** The balance is below the threshold, or the node refused a transaction for want of gas. */
  readonly isLow: boolean
  /** Nothing would be taken now, and why in a sentence; `null` while all is well. Budgets of a day are not in it. */
  readonly problem: string | null
  /** Entries that are not mined. */
  readonly waiting: number
  /** Entries that are not final. */
  readonly unsettled: number
  /** Since the oldest version of the oldest entry that is not mined was signed. */
  readonly oldestWaitingMs: number
  /** Since the start. */
  readonly counts: Readonly<RelayCounts>
}
