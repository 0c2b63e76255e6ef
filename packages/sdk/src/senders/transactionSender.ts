import { createWalletClient, http, type Transport } from 'viem'
import { privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'

/** A transaction for a sender. Everything in it was checked; only nonce and fees are to be added. */
export interface OutgoingTransaction {
  readonly to: `0x${string}`
  readonly data: `0x${string}`
  readonly value: 0n
  readonly chainId: number
  /** Gas estimate of the service; absent when there is none. */
  readonly gas?: bigint
}

/** Signs and broadcasts transactions: the agent's for trades, the trader's for delegations. */
export interface TransactionSender {
  readonly address: `0x${string}`
  /** Sends a transaction and returns its hash as soon as a node has accepted it. */
  sendTransaction(transaction: OutgoingTransaction): Promise<`0x${string}`>
  /** Returns the id of the connected chain, so that a wallet on another chain is noticed before it signs. */
  chainId?(): Promise<number>
  /**
   * Makes an `eth_call` at the latest block. With it, transactions are checked against the chain instead of the
   * service's word.
   */
  call?(to: `0x${string}`, data: `0x${string}`): Promise<`0x${string}`>
}

/** The part of a viem wallet client that is used. It must have an account. */
export interface WalletLike {
  readonly account?: { readonly address: `0x${string}` } | undefined
  sendTransaction(transaction: never): Promise<`0x${string}`>
  request(call: never): Promise<unknown>
}

/**
 * Creates a sender from a viem wallet client: a browser wallet, a local account or a hardware wallet. Its node also
 * answers reads of the chain.
 */
export function viemSender(wallet: WalletLike): TransactionSender {
  const { account } = wallet
  if (account === undefined) throw new TypeError('The wallet client has no account. Create it with one.')
  const ask = (method: string, params: unknown[]): Promise<unknown> => wallet.request({ method, params } as never)
  return {
    address: account.address,
    sendTransaction: ({ to, data, value, gas }: OutgoingTransaction) =>
      wallet.sendTransaction({
        account,
        // The client compared the chain id already. Without a chain, viem asks the node for the id and signs for that.
        chain: null,
        to,
        data,
        value,
        ...(gas === undefined ? {} : { gas }),
      } as never),
    chainId: async () => Number(await ask('eth_chainId', [])),
    call: async (to, data) => (await ask('eth_call', [{ to, data }, 'latest'])) as `0x${string}`,
  }
}

/** Options of `privateKeySender`: a key or an account, and the URL of a node or a viem transport. */
export type PrivateKeySenderOptions = (
  { readonly privateKey: `0x${string}` } | { readonly account: PrivateKeyAccount }
) &
  ({ readonly rpcUrl: string } | { readonly transport: Transport })

/** Creates a sender that signs in this process with a private key, and sends over a node of your choice. */
export function privateKeySender(options: PrivateKeySenderOptions): TransactionSender {
  const account = 'account' in options ? options.account : privateKeyToAccount(options.privateKey)
  const transport = 'transport' in options ? options.transport : http(options.rpcUrl)
  return viemSender(createWalletClient({ account, transport }))
}
