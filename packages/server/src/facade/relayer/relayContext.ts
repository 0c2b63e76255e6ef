import type { Hex } from '@bezel/protocol'
import type { FastifyBaseLogger } from 'fastify'
import type { Finality } from '../../chain/finality.ts'
import type { RpcClient } from '../../chain/rpcClient.ts'
import type { ServedChain } from '../../chain/servedChain.ts'
import type { RelaySender } from '../../store/relayGasStore.ts'
import type { Store, Transaction } from '../../store/sql.ts'
import type { AttemptId } from '../../trading/orders/orderModel.ts'
import type { RelaySigner } from './relayerKey.ts'
import type { RelayerSettings } from './relayerSettings.ts'

/** The hash that an attempt is known by from now on, because it was re-priced or another of its versions was mined. */
export interface RelayedHash {
  readonly attemptId: AttemptId
  readonly hash: Hex
}

/** Called once in a transaction that changes hashes, with all of them. */
export type OnRelayHashes = (sql: Transaction, hashes: readonly RelayedHash[]) => Promise<void>

/** The dependencies of one chain's relayer. */
export interface RelayContext {
  readonly chain: Pick<ServedChain, 'slug' | 'chainId' | 'diamond'>
  readonly sender: RelaySender
  readonly signer: RelaySigner
  readonly client: RpcClient
  readonly store: Store
  readonly settings: RelayerSettings
  readonly now: () => number
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn' | 'error'>
  /** Judges from a block which ones are final. */
  readonly finality: Pick<Finality, 'lastFinal'>
  /** Returns the last followed block. Nothing counts as final before the follower knows of it. */
  readonly head: () => { readonly number: number; readonly hash: Hex } | undefined
  readonly onHashes: OnRelayHashes
  /** True when other processes store entries, too. Default false. */
  readonly isShared?: boolean
}
