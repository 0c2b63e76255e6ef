import assert from 'node:assert/strict'
import { diamondAbi, type Order } from '@bezel/protocol'
import type { ChainClient } from '@bezel/testkit/chainClient.ts'
import {
  parseEventLogs,
  parseUnits,
  type Address,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type Hex,
} from 'viem'

// The Diamond's own word about sizes: its views before an order, its events after it. Nothing here is computed by code
// of the service.

const E3 = 10n ** 3n
const E8 = 10n ** 8n
const E10 = 10n ** 10n
const HUNDRED_PERCENT = 10n ** 12n
const MAX_STEPS = 8

type ViewName = ContractFunctionName<typeof diamondAbi, 'view'>

export async function readDiamond<N extends ViewName>(
  { client, diamond }: ChainClient,
  functionName: N,
  args: ContractFunctionArgs<typeof diamondAbi, 'view', N>,
  blockNumber?: bigint,
): Promise<never> {
  const request = { address: diamond, abi: diamondAbi, functionName, args }
  return (await client.readContract({
    ...request,
    ...(blockNumber === undefined ? {} : { blockNumber }),
  } as never)) as never
}

/** A trade that an order asks for. */
export interface AskedTrade {
  readonly trader: Address
  readonly pairIndex: number
  readonly long: boolean
  /** Base units, 1e18. */
  readonly size: bigint
  /** Price of the oracle at which it is expected to execute, 1e10. */
  readonly reference: bigint
  /** Scale 1e3. */
  readonly leverage: bigint
  readonly collateral: { readonly index: number; readonly decimals: number }
}

/** The facts of a promise: size x p1 / priceUsd is what the trade takes, in collateral. */
export interface Promised {
  readonly p1: bigint
  readonly priceUsd: bigint
  /** Collateral that keeps the promise, rounded up to the token's unit. */
  readonly collateralAmount: bigint
}

/** Finds the promise of a trade by the views of the Diamond at a block. */
export async function promisedAt(chain: ChainClient, asked: AskedTrade, block: bigint): Promise<Promised> {
  const { trader, pairIndex, size, reference, leverage, collateral } = asked
  const spreadP: bigint = await readDiamond(chain, 'pairSpreadP', [trader, BigInt(pairIndex)], block)
  const priceUsd: bigint = await readDiamond(chain, 'getCollateralPriceUsd', [collateral.index], block)
  const unit = 10n ** BigInt(18 - collateral.decimals)
  let usd = (size * reference) / E10
  let p1 = reference
  for (let step = 0; step < MAX_STEPS; step += 1) {
    p1 = await p1At(chain, asked, { spreadP, usd, block })
    const next = (size * p1) / E10
    const moved = next > usd ? next - usd : usd - next
    usd = next
    if (moved * E8 < unit * priceUsd) break
  }
  const divisor = leverage * priceUsd * unit
  return { p1, priceUsd, collateralAmount: (usd * E3 * E8 + divisor - 1n) / divisor }
}

/** Returns the price before skew at which the Diamond would open a trade of so many USD. */
async function p1At(
  chain: ChainClient,
  { trader, pairIndex, long, reference }: AskedTrade,
  { spreadP, usd, block }: { readonly spreadP: bigint; readonly usd: bigint; readonly block: bigint },
): Promise<bigint> {
  const args = [trader, pairIndex, long, usd, false, true, 0n] as const
  const impactP: bigint = await readDiamond(chain, 'getTradeCumulVolPriceImpactP', args, block)
  const half = long ? spreadP / 2n : -(spreadP / 2n)
  return reference + (reference * (half + impactP)) / HUNDRED_PERCENT
}

/** Returns the size that an amount of collateral would buy, 1e18. */
export async function boughtAt(
  chain: ChainClient,
  asked: AskedTrade,
  collateralAmount: bigint,
  block: bigint,
): Promise<bigint> {
  const { trader, pairIndex, leverage, collateral } = asked
  const spreadP: bigint = await readDiamond(chain, 'pairSpreadP', [trader, BigInt(pairIndex)], block)
  const priceUsd: bigint = await readDiamond(chain, 'getCollateralPriceUsd', [collateral.index], block)
  const usd = (((collateralAmount * leverage) / E3) * 10n ** BigInt(18 - collateral.decimals) * priceUsd) / E8
  return (usd * E10) / (await p1At(chain, asked, { spreadP, usd, block }))
}

/** The execution of an order, as the Diamond's event tells it. */
export interface Execution {
  readonly collateralAmount: bigint
  /** Price after spread and volume impact, before skew. */
  readonly p1: bigint
  readonly priceUsd: bigint
  readonly hasSkew: boolean
}

/** Reads the execution that opened a trader's trade in a transaction. */
export async function executionIn({ client }: ChainClient, hash: Hex, trader: Address): Promise<Execution> {
  const { logs } = await client.getTransactionReceipt({ hash })
  const events = parseEventLogs({ abi: diamondAbi, logs, eventName: ['MarketExecuted', 'LimitExecuted'] })
  const found = events.find(({ args }) => args.user === trader)
  assert.ok(found !== undefined, `nothing of ${trader} was executed in ${hash}`)
  const { t, oraclePrice, priceImpact, collateralPriceUsd } = found.args
  const { fixedSpreadP, cumulVolPriceImpactP, skewPriceImpactP } = priceImpact
  return {
    collateralAmount: t.collateralAmount,
    p1: oraclePrice + (oraclePrice * (fixedSpreadP + cumulVolPriceImpactP)) / HUNDRED_PERCENT,
    priceUsd: collateralPriceUsd,
    hasSkew: skewPriceImpactP !== 0n,
  }
}

/** The outcome of a check. */
export interface Judgement {
  /** True when the collateral on the chain is exactly the promised one. */
  readonly isExact: boolean
  /** True when fill.size x P1(fill) / U(fill) is order.size x P1* / U(prepare), to one unit times leverage. */
  readonly isKept: boolean
  /** True when neither P1 nor the token's price moved from the preparation to the execution. */
  readonly isStill: boolean
  /** True when the fill has the size of the order, to one unit times leverage. */
  readonly isSameSize: boolean
  readonly text: string
}

/** Judges a filled order by its promise and its execution. */
export function judge(order: Order, asked: AskedTrade, promised: Promised, execution: Execution): Judgement {
  const { leverage, collateral } = asked
  const fillSize = parseUnits(order.fill!.size, 18)
  const inCollateral = (size: bigint, of: { readonly p1: bigint; readonly priceUsd: bigint }): bigint =>
    (size * of.p1 * E8) / E10 / of.priceUsd
  const off = absolute(inCollateral(fillSize, execution) - inCollateral(asked.size, promised))
  const unit = 10n ** BigInt(18 - collateral.decimals)
  // The Diamond keeps sizes in 18 decimals of the collateral, which for tokens of 18 decimals is the coarser unit.
  const ownUnit = (2n * execution.p1) / E10 + (2n * execution.p1 * E8) / E10 / execution.priceUsd
  const allowed = (unit * leverage) / E3 + ownUnit + 3n
  const offSize = absolute(fillSize - asked.size)
  const isStill = execution.p1 === promised.p1 && execution.priceUsd === promised.priceUsd
  return {
    isExact: execution.collateralAmount === promised.collateralAmount,
    isKept: off <= allowed,
    isStill,
    isSameSize: inCollateral(offSize, execution) <= allowed,
    text: `order ${order.id}: off by ${off} of ${allowed} (1e18), size ${order.size} filled ${order.fill!.size}, P1 ${promised.p1} then ${execution.p1}, token ${promised.priceUsd} then ${execution.priceUsd}, collateral ${promised.collateralAmount} and ${execution.collateralAmount}`,
  }
}

function absolute(value: bigint): bigint {
  return value < 0n ? -value : value
}
