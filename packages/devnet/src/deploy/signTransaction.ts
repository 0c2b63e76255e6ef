import type { Address, Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'

/** Enough for the largest deployment; unused gas costs nothing. */
const GAS_LIMIT = 60_000_000n
/** A hundred times the local chain's base fee. */
const MAX_FEE_PER_GAS_WEI = 1_000_000_000n

/** A transaction of one of the local chain's own accounts. */
export interface OwnTransaction {
  readonly to: Address | null
  readonly data: Hex
  readonly value: bigint
  readonly nonce: number
}

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
