import { formatDecimal, type Address } from '@bezel/protocol'
import { decodeFunctionResult, encodeFunctionData, erc20Abi, type Hex } from 'viem'
import type { RpcCall } from '../rpcClient.ts'
import type { RpcOutcome } from '../rpcOutcome.ts'

/** What the Diamond would take from a trader. */
export interface TokenDemand {
  readonly symbol: string
  readonly token: Address
  readonly decimals: number
  /** In the token's units. */
  readonly amount: bigint
}

/** What is missing, in words and in numbers. */
export interface Shortage {
  readonly message: string
  readonly details: {
    readonly collateral: string
    readonly needed: string
    readonly balance: string
    readonly allowance: string
  }
}

/** Two calls: what the trader has, and what it lets the Diamond take. */
export function holdingCalls({ token }: TokenDemand, trader: Address, diamond: Address): readonly RpcCall[] {
  const balance = encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [trader] })
  const allowance = encodeFunctionData({ abi: erc20Abi, functionName: 'allowance', args: [trader, diamond] })
  return [balance, allowance].map((data) => ({ method: 'eth_call', params: [{ to: token, data }, 'latest'] }))
}

/** `undefined` when there is enough of both, or the token does not tell: this only explains a revert, and must never become one. */
export function shortageOf(
  { symbol, decimals, amount }: TokenDemand,
  [balanceOutcome, allowanceOutcome]: readonly (RpcOutcome | undefined)[],
): Shortage | undefined {
  const balance = amountIn(balanceOutcome)
  const allowance = amountIn(allowanceOutcome)
  if (balance === undefined || allowance === undefined) return undefined
  if (balance >= amount && allowance >= amount) return undefined
  const [needed, has, allowed] = [amount, balance, allowance].map((value) => formatDecimal(value, decimals))
  const lacks = [
    balance < amount && `the trader's balance is ${has} ${symbol}`,
    allowance < amount && `its allowance for the Diamond is ${allowed} ${symbol}`,
  ].filter((part) => part !== false)
  return {
    message: `${needed} ${symbol} are needed, but ${lacks.join(' and ')}.`,
    details: { collateral: symbol, needed: needed!, balance: has!, allowance: allowed! },
  }
}

function amountIn(outcome: RpcOutcome | undefined): bigint | undefined {
  if (outcome?.ok !== true) return undefined
  try {
    return decodeFunctionResult({ abi: erc20Abi, functionName: 'balanceOf', data: outcome.result as Hex })
  } catch {
    return undefined
  }
}
