import { parseDecimal, scaleDecimal } from '@bezel/protocol'
import type { RelayerBudgets } from './servedChain.ts'

const NATIVE_DECIMALS = 18
const NAMES = { traderDay: 'traderDayWei', day: 'deploymentDayWei', lowBalance: 'lowBalanceWei' } as const

/**
 * What a chain's entry says of its relayer: `{"traderDay"?, "day"?, "lowBalance"?}`, each a decimal text in the chain's native token. `fault` makes what
 * is thrown of the name of a field that can't be read.
 */
export function readRelayerBudgets(value: unknown, fault: (field: string) => Error): RelayerBudgets {
  const budgets: Record<string, bigint> = {}
  if (value !== undefined && (typeof value !== 'object' || value === null)) throw fault('relayer')
  for (const [name, text] of Object.entries(value ?? {})) {
    const wei = weiOf(text)
    if (!Object.hasOwn(NAMES, name) || wei === undefined) throw fault(`relayer.${name}`)
    budgets[NAMES[name as keyof typeof NAMES]] = wei
  }
  return budgets
}

function weiOf(text: unknown): bigint | undefined {
  const decimal = typeof text === 'string' ? parseDecimal(text) : undefined
  const wei = decimal === undefined ? undefined : scaleDecimal(decimal, NATIVE_DECIMALS)
  return wei !== undefined && wei >= 0n ? wei : undefined
}
