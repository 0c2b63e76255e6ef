import type { Address, ChainSlug } from '@bezel/protocol'

/** A chain as this deployment serves it. */
export interface ServedChain {
  readonly slug: ChainSlug
  readonly chainId: number
  readonly testnet: boolean
  readonly diamond: Address
  /** May carry credentials in its path or query: never logged. */
  readonly rpcUrl: string
  readonly wsUrl: string | undefined
}
