import type { Address, Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { signTransaction } from './signTransaction.ts'
import type { LocalChain } from '../chain/createLocalChain.ts'

/** An account of the devnet itself that sends transactions, one after the other. */
export interface Wallet {
  readonly address: Address
  send(to: Address, data: Hex, value?: bigint): Promise<Hex>
}

export function createWallet(chain: LocalChain, account: PrivateKeyAccount): Wallet {
  let last: Promise<unknown> = Promise.resolve()

  async function sendNow(to: Address, data: Hex, value: bigint): Promise<Hex> {
    // Asked each time: a reorganisation or an evm_revert takes nonces back.
    const nonce = Number(await chain.request<Hex>('eth_getTransactionCount', [account.address, 'pending']))
    const raw = await signTransaction(chain, account, { to, data, value, nonce })
    return chain.request<Hex>('eth_sendRawTransaction', [raw])
  }

  return {
    address: account.address,
    send(to, data, value = 0n) {
      const sent = last.then(() => sendNow(to, data, value))
      last = sent.catch(() => undefined)
      return sent
    },
  }
}
