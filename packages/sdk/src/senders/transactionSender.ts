import { createWalletClient, http, type Transport } from 'viem'
import { privateKeyToAccount, type PrivateKeyAccount } from 'viem/accounts'
import { BezelConfigError } from '../errors/bezelError.ts'
import { isHttpUrl } from '../http/createTransport.ts'

/** A transaction for a sender. Everything in it was checked; only nonce and fees are to be added. */
export interface OutgoingTransaction {
  /** Contract to call. */
  readonly to: `0x${string}`
  /** Calldata, to be sent unchanged. */
  readonly data: `0x${string}`
  /** Native coins to send: none. */
  readonly value: 0n
  /** Id of the chain that it is for. */
  readonly chainId: number
  /** Gas estimate of the service; absent when there is none. */
  readonly gas?: bigint
}

/** Signs and broadcasts transactions: the agent's for trades, the trader's for delegations. */
export interface TransactionSender {
  /** Address that sends. */
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
  /**
   * Returns true when a transaction was mined and reverted, false when it was mined and succeeded, and `undefined`
   * while it is not mined. With it, a reverted transaction is noticed and not waited for in vain: a wait says so, and a
   * batch prepares the page again.
   */
  isReverted?(txHash: `0x${string}`): Promise<boolean | undefined>
}

/** The part of a viem wallet client that is used. It must have an account. */
export interface WalletLike {
  /** Account that signs. */
  readonly account?: { readonly address: `0x${string}` } | undefined
  /** Signs and broadcasts a transaction. */
  sendTransaction(transaction: never): Promise<`0x${string}`>
  /** Asks the wallet's node. */
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
    async isReverted(txHash) {
      const receipt = (await ask('eth_getTransactionReceipt', [txHash])) as { readonly status: string } | null
      return receipt === null ? undefined : Number(receipt.status) !== 1
    },
  }
}

/** Options of `privateKeySender`: a key or an account, and the URL of a node or a viem transport. */
export type PrivateKeySenderOptions = (
  { readonly privateKey: `0x${string}` } | { readonly account: PrivateKeyAccount }
) &
  ({ readonly transport: Transport } | { readonly rpcUrl: string })

/**
 * Creates a sender that signs in this process with a private key, and sends over a node of your choice. Throws
 * `BAD_RPC_URL`.
 */
export function privateKeySender(options: PrivateKeySenderOptions): TransactionSender {
  const account = 'account' in options ? options.account : privateKeyToAccount(options.privateKey)
  const transport = 'transport' in options ? options.transport : http(requireRpcUrl(options.rpcUrl))
  return viemSender(createWalletClient({ account, transport }))
}

function requireRpcUrl(rpcUrl: string | undefined): string {
  if (rpcUrl !== undefined && isHttpUrl(rpcUrl)) return rpcUrl
  const found = rpcUrl === undefined ? 'it is missing' : `${JSON.stringify(rpcUrl)} is none`
  const message = `privateKeySender needs the URL of a node, { rpcUrl: 'https://...' }: ${found}. For another kind of connection give it { transport }.`
  throw new BezelConfigError('BAD_RPC_URL', message)
}
