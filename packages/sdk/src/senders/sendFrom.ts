import type { TransactionRequest } from '@bezel/protocol/wire'
import { BezelConfigError, WrongChainError } from '../errors/bezelError.ts'
import { BezelNodeError, BroadcastError } from '../errors/broadcastError.ts'
import type { TransactionSender } from './transactionSender.ts'

/** A transaction to send. `gas` is the service's estimate; null or absent when there is none. */
interface Sendable extends TransactionRequest {
  readonly gas?: string | null
}

/**
 * Sends a transaction whose every byte was checked or made here, and returns its hash. `orderId` is the order that it
 * is for, if it is for one. Throws `WrongChainError`, `BezelNodeError` and `BroadcastError`.
 */
export async function sendFrom(
  sender: TransactionSender,
  { to, data, chainId, gas = null }: Sendable,
  orderId?: string,
): Promise<`0x${string}`> {
  await requireChain(sender, chainId)
  try {
    return await sender.sendTransaction({ to, data, value: 0n, chainId, ...(gas === null ? {} : { gas: BigInt(gas) }) })
  } catch (error) {
    throw new BroadcastError(error, { sender: sender.address, orderId })
  }
}

/** Throws `WrongChainError` when a sender that can tell its chain is on another one, and `BezelNodeError`. */
export async function requireChain(sender: TransactionSender, chainId: number): Promise<void> {
  const found = (await readChainId(sender)) ?? chainId
  if (found !== chainId) throw new WrongChainError({ who: 'The sender', expected: chainId, found })
}

async function readChainId(sender: TransactionSender): Promise<number | undefined> {
  try {
    return await sender.chainId?.()
  } catch (error) {
    throw new BezelNodeError('eth_chainId', error)
  }
}

/** Throws `WRONG_SENDER` when a transaction of the trader would be sent by somebody else. */
export function requireTraderSender({ address }: TransactionSender, trader: string): void {
  if (address.toLowerCase() === trader.toLowerCase()) return
  const message = `The sender is ${address}, but the trader is ${trader}, and only the trader's own wallet can do this. Give it the trader's sender.`
  throw new BezelConfigError('WRONG_SENDER', message)
}
