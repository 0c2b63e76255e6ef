import { formatDecimal, type Address, type Balance } from '@bezel/protocol'
import { decodeFunctionResult, encodeFunctionData, erc20Abi, type Hex } from 'viem'
import { diamondCall } from '../chain/diamondCalls.ts'
import type { RpcCall, RpcClient } from '../chain/rpcClient.ts'
import { NodeUnavailableError, type RpcOutcome } from '../chain/rpcOutcome.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import type { ListedCollateral } from '../market/chainMarkets.ts'

/** What the chain says of an account and tells no event about. */
export interface Holdings {
  readonly balances: Balance[]
  readonly referrer: Address | null
  readonly delegate: Address
}

/** All of it as of one block, in one round trip. Throws `NodeUnavailableError`. */
export async function readHoldings(
  client: RpcClient,
  { diamond }: ServedChain,
  collaterals: readonly ListedCollateral[],
  trader: Address,
): Promise<Holdings> {
  const delegate = diamondCall(diamond, 'getTradingDelegate', [trader])
  const referrer = diamondCall(diamond, 'getTraderActiveReferrer', [trader])
  const calls = collaterals.flatMap(({ address }) => [
    tokenCall(address, 'balanceOf', [trader]),
    tokenCall(address, 'allowance', [trader, diamond]),
  ])
  const outcomes = await client.batch([delegate.call, referrer.call, ...calls])
  const [delegateOutcome, referrerOutcome, ...amounts] = outcomes
  if (delegateOutcome === undefined || referrerOutcome === undefined) throw new NodeUnavailableError('no answer')
  const referrerAddress = referrer.decode(referrerOutcome) as Address
  return {
    delegate: delegate.decode(delegateOutcome) as Address,
    referrer: BigInt(referrerAddress) === 0n ? null : referrerAddress,
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
