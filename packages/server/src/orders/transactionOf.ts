import type { PreparedTransaction } from '@bezel/protocol'
import type { ServedChain } from '../chain/servedChain.ts'
import type { Attempt } from '../trading/orders/orderModel.ts'

/** An attempt as its agent gets it, to sign and broadcast. */
export function transactionOf({ diamond, chainId }: ServedChain, attempt: Attempt): PreparedTransaction {
  const { calldata, gas, expiresAtMs } = attempt
  return { to: diamond, data: calldata, value: '0', chainId, gas, expiresAt: expiresAtMs }
}
