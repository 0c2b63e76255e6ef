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
  /** `false`: a read-only deployment, which prepares nothing on this chain. */
  readonly writes: boolean
  /** Blocks after which a block is never undone; what undoes one is kept that long. */
  readonly finalityDepth: number
  /** The block from which on the chain is followed: not after the first trade that matters. */
  readonly startBlock: number
  /** Of the facade's relayer on this chain, where they differ from the usual ones. */
  readonly relayer: RelayerBudgets
}

/** Wei of the chain's native token. */
export interface RelayerBudgets {
  /** Gas that one trader's actions may cost on a UTC day. */
  readonly traderDayWei?: bigint
  /** Gas that all actions may cost on a UTC day. */
  readonly deploymentDayWei?: bigint
  /** Below this balance the relayer asks to be topped up. */
  readonly lowBalanceWei?: bigint
}
