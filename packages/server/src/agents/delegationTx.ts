import { diamondAbi, type Address, type TransactionRequest } from '@bezel/protocol'
import { encodeFunctionData } from 'viem'

interface OnChain {
  readonly chainId: number
  readonly diamond: Address
}

/** What the trader sends so that the chain lets `delegate` trade for it. */
export function delegationTx({ chainId, diamond }: OnChain, delegate: Address): TransactionRequest {
  const data = encodeFunctionData({ abi: diamondAbi, functionName: 'setTradingDelegate', args: [delegate] })
  return { to: diamond, data, chainId }
}

/** What the trader sends to end any delegation. */
export function revocationTx({ chainId, diamond }: OnChain): TransactionRequest {
  return { to: diamond, data: encodeFunctionData({ abi: diamondAbi, functionName: 'removeTradingDelegate' }), chainId }
}
