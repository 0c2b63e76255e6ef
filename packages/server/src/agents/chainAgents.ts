import type { Address, SigningDomain } from '@bezel/protocol'
import type { RpcClient } from '../chain/rpcClient.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import type { Delegates } from './delegates.ts'
import type { Registry } from './registry.ts'

/** What the operations on agents of one chain work with. */
export interface ChainAgents {
  readonly chain: ServedChain
  readonly domain: SigningDomain
  readonly registry: Registry
  readonly delegates: Delegates
  readonly client: RpcClient
  /** Who sends for agents that came through the facade; `null` where nobody does. */
  readonly relayer: Address | null
}
