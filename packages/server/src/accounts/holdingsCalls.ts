import { diamondAbi, type Address, type Hex } from '@bezel/protocol'
import { erc20Abi, toFunctionSelector, type AbiFunction } from 'viem'
import type { RpcCall } from '../chain/rpcClient.ts'
import type { ListedCollateral } from '../trading/market/chainMarkets.ts'

/**
 * No view gives a trader's multiplier, but the Diamond says what it makes of a fee: of one whole at 18 decimals it is the multiplier itself,
 * with whatever goes into it (volume tier, staking tier) and at any precision.
 */
export const WHOLE_FEE_DECIMALS = 18
const WHOLE_FEE = 10n ** BigInt(WHOLE_FEE_DECIMALS)

/** More in one request than public nodes take. */
const CALLS_PER_BATCH = 200
const MAX_TRADERS_PER_BATCH = 25
const DIAMOND_CALLS = 3

/** Rounds make these calls by the thousand, so what is the same in all of them is made once, and words are put together by hand. */
const SELECTORS = {
  delegate: selectorOf(diamondAbi, 'getTradingDelegate'),
  referrer: selectorOf(diamondAbi, 'getTraderActiveReferrer'),
  fee: selectorOf(diamondAbi, 'calculateFeeAmount'),
  balance: selectorOf(erc20Abi, 'balanceOf'),
  allowance: selectorOf(erc20Abi, 'allowance'),
}

export function callsPerTrader(collaterals: readonly ListedCollateral[]): number {
  return DIAMOND_CALLS + 2 * collaterals.length
}

/** How many accounts one round trip reads. */
export function tradersPerBatch(collaterals: readonly ListedCollateral[]): number {
  const fitting = Math.floor(CALLS_PER_BATCH / callsPerTrader(collaterals))
  return Math.max(1, Math.min(MAX_TRADERS_PER_BATCH, fitting))
}

/** Delegate, referrer, fee, then balance and allowance of each collateral. */
export function holdingsCalls(
  diamond: Address,
  collaterals: readonly ListedCollateral[],
  trader: Address,
): readonly RpcCall[] {
  const who = addressWord(trader)
  const spender = addressWord(diamond)
  return [
    viewCall(diamond, SELECTORS.delegate + who),
    viewCall(diamond, SELECTORS.referrer + who),
    viewCall(diamond, SELECTORS.fee + who + word(WHOLE_FEE)),
    ...collaterals.flatMap(({ address }) => [
      viewCall(address, SELECTORS.balance + who),
      viewCall(address, SELECTORS.allowance + who + spender),
    ]),
  ]
}

function viewCall(to: Address, data: string): RpcCall {
  return { method: 'eth_call', params: [{ to, data }, 'latest'] }
}

function addressWord(address: Address): string {
  return address.slice(2).toLowerCase().padStart(64, '0')
}

function word(value: bigint): string {
  return value.toString(16).padStart(64, '0')
}

function selectorOf(abi: readonly unknown[], name: string): Hex {
  const found = (abi as readonly AbiFunction[]).find((item) => item.type === 'function' && item.name === name)
  if (found === undefined) throw new Error(`the ABI has no ${name}`)
  return toFunctionSelector(found) as Hex
}
