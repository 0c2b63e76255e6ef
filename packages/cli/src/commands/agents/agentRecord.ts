import { tradingInteractionsAbi } from '@bezel/protocol/wire'
import type { Agent } from '@bezel/sdk'
import { formatFields, type PageShape } from '../../output/formatTable.ts'
import { dateAndTime, shortLeverage, shortValue } from '../../output/text.ts'
import { createPublicClient, formatEther, http, type Address } from 'viem'
import type { Target } from '../../connection/target.ts'

/** Returns the lines that describe an agent and its permissions. */
export function agentFields({ agent, trader, name, status, mode, scope }: Agent, shape: PageShape): string[] {
  return formatFields(
    [
      ['Agent', agent],
      ['Trader', trader],
      ['Name', name === '' ? null : name],
      ['Status', status],
      ['Sends', mode === 'self' ? 'its own transactions' : 'through the relayer'],
      ['May', scope.permissions === 'read' ? 'only read' : 'trade'],
      ['Markets', scope.markets === 'all' ? 'all' : scope.markets.join(', ')],
      ['Leverage', scope.maxLeverage === null ? 'no limit' : `up to ${shortLeverage(scope.maxLeverage)}`],
      ['Daily cap', scope.dailySpendCapUsd === null ? 'no limit' : `${shortValue(scope.dailySpendCapUsd)} USD`],
      ['Expires', scope.expiresAt === null ? 'never' : `${dateAndTime(scope.expiresAt)} UTC`],
    ],
    shape,
  )
}

/** Reads the native coins that an account has for fees. `undefined` when no node is known or it does not answer. */
export async function readGas({ rpcUrl }: Target, address: Address): Promise<string | undefined> {
  if (rpcUrl === undefined) return undefined
  try {
    return formatEther(await createPublicClient({ transport: http(rpcUrl) }).getBalance({ address }))
  } catch {
    return undefined
  }
}

/**
 * Reads who may trade for a trader on the chain; the zero address for nobody. `undefined` when no node answers it, and
 * while a transaction of the trader is under way, because that may change it.
 */
export async function readDelegate({ rpcUrl, diamond }: Target, trader: Address): Promise<Address | undefined> {
  if (rpcUrl === undefined) return undefined
  const client = createPublicClient({ transport: http(rpcUrl) })
  const view = { address: diamond, abi: tradingInteractionsAbi, functionName: 'getTradingDelegate' } as const
  try {
    const [delegate, mined, sent] = await Promise.all([
      client.readContract({ ...view, args: [trader] }),
      client.getTransactionCount({ address: trader, blockTag: 'latest' }),
      client.getTransactionCount({ address: trader, blockTag: 'pending' }),
    ])
    return sent > mined ? undefined : delegate
  } catch {
    return undefined
  }
}

/** Asks the faucet of a local chain for coins. Returns `false` when the target is no local chain. */
export async function askFaucet({ rpcUrl, devnet, chain }: Target, address: Address): Promise<boolean> {
  if (rpcUrl === undefined || devnet?.chains[chain]?.rpcUrl !== rpcUrl) return false
  const call = { method: 'bezel_faucet', params: [address] } as never
  await createPublicClient({ transport: http(rpcUrl) }).request(call)
  return true
}
