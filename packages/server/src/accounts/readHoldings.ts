import { formatDecimal, type Address, type Balance, type Decimal } from '@bezel/protocol'
import { decodeFunctionResult, encodeFunctionData, erc20Abi, type Hex } from 'viem'
import { diamondCall } from '../chain/diamondCalls.ts'
import { revertData } from '../chain/revertData.ts'
import type { RpcCall, RpcClient } from '../chain/rpcClient.ts'
import { NodeUnavailableError, type RpcOutcome } from '../chain/rpcOutcome.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import type { ListedCollateral } from '../market/chainMarkets.ts'

/** What the chain says of an account and tells no event about. */
export interface Holdings {
  readonly balances: Balance[]
  /** `null` where the Diamond has no fee tiers. */
  readonly feeTierMultiplier: Decimal | null
  readonly referrer: Address | null
  readonly delegate: Address
}

/**
 * No view gives a trader's multiplier, but the Diamond says what it makes of a fee: of one whole at 18 decimals it is the multiplier itself,
 * with whatever goes into it (volume tier, staking tier) and at any precision.
 */
const WHOLE_FEE_DECIMALS = 18

/** All of it in one round trip. Throws `NodeUnavailableError`. */
export async function readHoldings(
  client: RpcClient,
  { diamond }: ServedChain,
  collaterals: readonly ListedCollateral[],
  trader: Address,
): Promise<Holdings> {
  const delegate = diamondCall(diamond, 'getTradingDelegate', [trader])
  const referrer = diamondCall(diamond, 'getTraderActiveReferrer', [trader])
  const fee = diamondCall(diamond, 'calculateFeeAmount', [trader, 10n ** BigInt(WHOLE_FEE_DECIMALS)])
  const calls = collaterals.flatMap(({ address }) => [
    tokenCall(address, 'balanceOf', [trader]),
    tokenCall(address, 'allowance', [trader, diamond]),
  ])
  const outcomes = await client.batch([delegate.call, referrer.call, fee.call, ...calls])
  const [delegateOutcome, referrerOutcome, feeOutcome, ...amounts] = outcomes
  if (delegateOutcome === undefined || referrerOutcome === undefined || feeOutcome === undefined) {
    throw new NodeUnavailableError('no answer')
  }
  const referrerAddress = referrer.decode(referrerOutcome) as Address
  return {
    delegate: delegate.decode(delegateOutcome) as Address,
    referrer: BigInt(referrerAddress) === 0n ? null : referrerAddress,
    feeTierMultiplier:
      revertData(feeOutcome) === undefined ? formatDecimal(fee.decode(feeOutcome), WHOLE_FEE_DECIMALS) : null,
    balances: collaterals.map(({ symbol, decimals }, i) => ({
      collateral: symbol,
      balance: formatDecimal(amountOf(amounts[2 * i]), decimals),
      allowance: formatDecimal(amountOf(amounts[2 * i + 1]), decimals),
    })),
  }
}

function tokenCall(
  token: Address,
  functionName: 'balanceOf' | 'allowance',
  args: readonly [Address] | readonly [Address, Address],
): RpcCall {
  const data = encodeFunctionData({ abi: erc20Abi, functionName, args } as never)
  return { method: 'eth_call', params: [{ to: token, data }, 'latest'] }
}

function amountOf(outcome: RpcOutcome | undefined): bigint {
  if (outcome?.ok !== true) throw new NodeUnavailableError('a token did not say its balance')
  try {
    return decodeFunctionResult({ abi: erc20Abi, functionName: 'balanceOf', data: outcome.result as Hex })
  } catch (error) {
    throw new NodeUnavailableError("a token's balance can't be read", { cause: error })
  }
}
