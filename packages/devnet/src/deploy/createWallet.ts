import type { Address, Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { LocalChain } from '../chain/createLocalChain.ts'

/** An account of the devnet itself that sends transactions, one after the other. */
export interface Wallet {
  readonly address: Address
  send(to: Address, data: Hex, value?: bigint): Promise<Hex>
}

export function createWallet(chain: LocalChain, account: PrivateKeyAccount): Wallet {
  let last: Promise<unknown> = Promise.resolve()

  async function sendNow(to: Address, data: Hex, value: bigint): Promise<Hex> {
    // Read each time, because a reorganisation or an evm_revert takes nonces back.
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

/** A transaction of one of the local chain's own accounts. */
interface OwnTransaction {
  readonly to: Address | null
  readonly data: Hex
  readonly value: bigint
  readonly nonce: number
}

/** Gas limit for the largest deployment; unused gas costs nothing. */
const GAS_LIMIT = 60_000_000n

/** Fee cap: a hundred times the local chain's base fee. */
const MAX_FEE_PER_GAS_WEI = 1_000_000_000n

export function signTransaction(
  chain: { readonly chainId: number },
  account: PrivateKeyAccount,
  transaction: OwnTransaction,
): Promise<Hex> {
  return account.signTransaction({
    ...transaction,
    type: 'eip1559',
    chainId: chain.chainId,
    gas: GAS_LIMIT,
    maxFeePerGas: MAX_FEE_PER_GAS_WEI,
    maxPriorityFeePerGas: 1n,
  })
}
