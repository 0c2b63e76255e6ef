import { tradingInteractionsAbi, type TransactionRequest } from '@bezel/protocol/wire'
import { encodeFunctionData } from 'viem'
import { UnverifiedTransactionError } from '../errors/unverifiedTransactionError.ts'
import { isSame } from '../verify/decodeCalls.ts'

/** Who is to become the delegate; `null`: nobody any more. */
export interface Delegation {
  readonly delegate: `0x${string}` | null
  readonly diamond: string
  readonly chainId: number
}

/** Throws unless the transaction does exactly that: the trader's own wallet signs it, so no byte of it may be another. */
export function verifyDelegation(transaction: TransactionRequest, { delegate, diamond, chainId }: Delegation): void {
  const { to, data } = transaction
  if (!isSame(to, diamond)) throw new UnverifiedTransactionError('to', diamond, to)
  if (transaction.chainId !== chainId) {
    throw new UnverifiedTransactionError('chainId', String(chainId), String(transaction.chainId))
  }
  const expected =
    delegate === null
      ? encodeFunctionData({ abi: tradingInteractionsAbi, functionName: 'removeTradingDelegate' })
      : encodeFunctionData({ abi: tradingInteractionsAbi, functionName: 'setTradingDelegate', args: [delegate] })
  if (data.toLowerCase() !== expected.toLowerCase()) throw new UnverifiedTransactionError('data', expected, data)
}
