import type { Agent } from '@bezel/sdk'
import { formatFields } from '../output/formatTable.ts'
import { dateAndTime, type Style } from '../output/text.ts'
import { createPublicClient, formatEther, http, type Address } from 'viem'
import type { Target } from '../connection/target.ts'

/** Returns the lines that describe an agent and its permissions. */
export function agentFields({ agent, trader, name, status, mode, scope }: Agent, style: Style): string[] {
  return formatFields(
    [
      ['Agent', agent],
      ['Trader', trader],
      ['Name', name === '' ? null : name],
      ['Status', status],
      ['Mode', mode],
      ['May', scope.permissions === 'read' ? 'only read' : 'trade'],
      ['Markets', scope.markets === 'all' ? 'all' : scope.markets.join(', ')],
      ['Leverage', scope.maxLeverage === null ? 'no limit' : `up to ${scope.maxLeverage}x`],
      ['Daily cap', scope.dailySpendCapUsd === null ? 'no limit' : `${scope.dailySpendCapUsd} USD`],
      ['Expires', scope.expiresAt === null ? 'never' : `${dateAndTime(scope.expiresAt)} UTC`],
    ],
    style,
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

/** Asks the faucet of a local chain for coins. Returns `false` when the target is no local chain. */
export async function askFaucet({ rpcUrl, devnet, chain }: Target, address: Address): Promise<boolean> {
  if (rpcUrl === undefined || devnet?.chains[chain]?.rpcUrl !== rpcUrl) return false
  const call = { method: 'bezel_faucet', params: [address] } as never
  await createPublicClient({ transport: http(rpcUrl) }).request(call)
  return true
}
