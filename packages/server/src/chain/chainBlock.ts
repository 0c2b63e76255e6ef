import type { Address, Hex } from '@bezel/protocol'
import type { FollowedBlock } from '../store/blockStore.ts'
import type { DiamondEvent } from './events/index.ts'

/** An event and where in its block it stands. */
export type PlacedEvent = DiamondEvent & { readonly logIndex: number }

/** A transaction that concerns the Diamond: it was sent to it, or made it speak. */
export interface ChainTransaction {
  readonly hash: Hex
  /** Its place in the block. */
  readonly index: number
  readonly from: Address
  /** `null`: it made a contract. */
  readonly to: Address | null
  readonly input: Hex
  /** Of the Diamond, in the order of the log. Those of unused kinds are left out. */
  readonly events: readonly PlacedEvent[]
  /** Whether the Diamond said anything at all. */
  readonly hasLogs: boolean
}

/** A block with everything in it that concerns the Diamond. */
export interface ChainBlock {
  readonly block: FollowedBlock
  /** In the order of the block. */
  readonly transactions: readonly ChainTransaction[]
}

/** What became of a transaction whose hash was reported. */
export interface Receipt {
  readonly txHash: Hex
  readonly blockHash: Hex
  readonly blockNumber: number
  /** Place of the transaction in its block. */
  readonly index: number
  readonly isReverted: boolean
}
