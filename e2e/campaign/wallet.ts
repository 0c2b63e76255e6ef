import type { PreparedTransaction } from '@bezel/protocol'
import { keccak256, type Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { ChainClient } from '@bezel/testkit/chainClient.ts'

/** The key of an agent, shared by its parallel loops. */
export interface Wallet {
  /**
   * Signs a transaction, passes its hash to `before`, and sends it unless that returns false. Sends one at a time,
   * because each takes the account's next nonce. Returns the hash; `undefined` when nothing was sent.
   */
  send(transaction: PreparedTransaction, before: (hash: Hex) => Promise<boolean>): Promise<Hex | undefined>
}

const GAS_WITHOUT_ESTIMATE = 3_000_000n

export function createWallet(chain: ChainClient, account: PrivateKeyAccount): Wallet {
  let last: Promise<unknown> = Promise.resolve()

  async function sendNow(
    { to, data, gas, chainId }: PreparedTransaction,
    before: (hash: Hex) => Promise<boolean>,
  ): Promise<Hex | undefined> {
    const { client } = chain
    const [nonce, gasPrice] = await Promise.all([
      client.getTransactionCount({ address: account.address, blockTag: 'pending' }),
      client.getGasPrice(),
    ])
    const raw = await account.signTransaction({
      type: 'legacy',
      to: to as Hex,
      data: data as Hex,
      gas: gas === null ? GAS_WITHOUT_ESTIMATE : BigInt(gas),
      gasPrice: gasPrice * 2n,
      nonce,
      chainId,
    })
    const hash = keccak256(raw)
    if (!(await before(hash))) return undefined
    await client.sendRawTransaction({ serializedTransaction: raw })
    return hash
  }

  return {
    send(transaction, before) {
      const sent = last.then(() => sendNow(transaction, before))
      last = sent.catch(() => undefined)
      return sent
    },
  }
}
