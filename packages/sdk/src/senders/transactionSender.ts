/** A transaction as a sender gets it: everything that was checked, and nothing to add but nonce and fees. */
export interface OutgoingTransaction {
  readonly to: `0x${string}`
  readonly data: `0x${string}`
  readonly value: 0n
  readonly chainId: number
  /** An estimate of the service's; absent when there is none. */
  readonly gas?: bigint
}

/** Signs and broadcasts transactions: the agent's for trades, the trader's for delegation. */
export interface TransactionSender {
  readonly address: `0x${string}`
  /** Gives the hash as soon as a node has taken it. */
  sendTransaction(transaction: OutgoingTransaction): Promise<`0x${string}`>
  /** The chain that it is connected to. With it a wallet on another chain is found out before it signs. */
  chainId?(): Promise<number>
  /** An `eth_call` at the latest block. With it transactions are checked against the chain itself and not against the service's word. */
  call?(to: `0x${string}`, data: `0x${string}`): Promise<`0x${string}`>
}
