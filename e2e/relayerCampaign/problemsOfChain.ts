import { diamondAbi } from '@bezel/protocol'
import { toFunctionSelector, getAbiItem, type Address } from 'viem'
import { isSame, type RelayedTransaction } from '@bezel/testkit/relayedTransactions.ts'

const ACTION = toFunctionSelector(getAbiItem({ abi: diamondAbi, name: 'delegatedTradingAction' }))

/**
 * Returns the faults of the relayer that the chain shows: holes in its nonces, other shapes than the two it signs, an
 * attempt mined twice.
 */
export function problemsOfChain(
  transactions: readonly RelayedTransaction[],
  of: { readonly diamond: Address; readonly relayer: Address; readonly usedNonces: number },
): string[] {
  const problems: string[] = []
  const attempts = new Map<string, RelayedTransaction>()
  for (const [at, transaction] of transactions.entries()) {
    const { hash, nonce, to, value, input, attemptId } = transaction
    if (nonce !== at) problems.push(`${hash} has nonce ${nonce} where ${at} was due`)
    const isAction = isSame(to, of.diamond) && input.startsWith(ACTION)
    const isBurn = isSame(to, of.relayer) && input === '0x'
    if (value !== 0n || isAction === isBurn) problems.push(`${hash} is of no shape that the relayer signs`)
    if (attemptId === null) continue
    const other = attempts.get(attemptId)
    if (other !== undefined) problems.push(`attempt ${attemptId} was mined twice: ${other.hash} and ${hash}`)
    attempts.set(attemptId, transaction)
  }
  if (transactions.length !== of.usedNonces) {
    problems.push(`the chain counts ${of.usedNonces} nonces and has ${transactions.length} transactions`)
  }
  return problems
}
