import type { TransactionRequest } from '@bezel/protocol/wire'
import { WrongChainError } from '../errors/bezelError.ts'
import { BroadcastError } from '../errors/transactionErrors.ts'
import type { TransactionSender } from './transactionSender.ts'

/** Sends a transaction of the trader, whose every byte was checked or made here, and returns its hash. */
export async function sendFrom(
  sender: TransactionSender,
  { to, data, chainId }: TransactionRequest,
): Promise<`0x${string}`> {
  const found = (await sender.chainId?.()) ?? chainId
  if (found !== chainId) throw new WrongChainError({ who: 'The sender', expected: chainId, found })
  try {
    return await sender.sendTransaction({ to: to as `0x${string}`, data: data as `0x${string}`, value: 0n, chainId })
  } catch (error) {
    throw new BroadcastError(error)
  }
}
