import type { OutgoingTransaction, TransactionSender } from './transactionSender.ts'

/** What is used of a viem wallet client. It must have an account. */
export interface WalletLike {
  readonly account?: { readonly address: `0x${string}` } | undefined
  sendTransaction(transaction: never): Promise<`0x${string}`>
  request(call: never): Promise<unknown>
}

/** A sender over a viem wallet client: a browser wallet, a local account, a hardware wallet. Its node is also asked what the chain says. */
export function viemSender(wallet: WalletLike): TransactionSender {
  const { account } = wallet
  if (account === undefined) throw new TypeError('The wallet client has no account. Create it with one.')
  const ask = (method: string, params: unknown[]): Promise<unknown> => wallet.request({ method, params } as never)
  return {
    address: account.address,
    sendTransaction: ({ to, data, value, gas }: OutgoingTransaction) =>
      wallet.sendTransaction({
        account,
        // The id was compared by the client; without a chain viem asks the node for it and signs for that one.
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
