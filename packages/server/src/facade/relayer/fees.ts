import type { Fees } from '../../store/relayStore.ts'
import type { RpcCall, RpcOutcome } from '../../chain/rpcClient.ts'

/** The current fees of the chain per unit of gas, in wei. */
export interface MarketFees {
  /** Base fee of the next block. */
  readonly baseFeeWei: bigint
  readonly tipWei: bigint
}

/** The calls that read the fees. Both are made, because some nodes have no fee history. */
export const feeCalls: readonly RpcCall[] = [
  { method: 'eth_feeHistory', params: ['0x4', 'latest', [50]] },
  { method: 'eth_gasPrice', params: [] },
]

/** Parses the fees; `undefined` when neither answer has any. */
export function parseFees(history: RpcOutcome | undefined, price: RpcOutcome | undefined): MarketFees | undefined {
  return feesOfHistory(history) ?? feesOfPrice(price)
}

function feesOfHistory(outcome: RpcOutcome | undefined): MarketFees | undefined {
  if (outcome?.ok !== true || typeof outcome.result !== 'object' || outcome.result === null) return undefined
  const { baseFeePerGas, reward } = outcome.result as { baseFeePerGas?: unknown; reward?: unknown }
  const baseFeeWei = Array.isArray(baseFeePerGas) ? weiOf(baseFeePerGas.at(-1)) : undefined
  if (baseFeeWei === undefined) return undefined
  const tips = Array.isArray(reward)
    ? reward.map((entry: unknown) => weiOf(Array.isArray(entry) ? entry[0] : undefined))
    : []
  return { baseFeeWei, tipWei: medianOf(tips.filter((tip) => tip !== undefined)) }
}

function feesOfPrice(outcome: RpcOutcome | undefined): MarketFees | undefined {
  const baseFeeWei = outcome?.ok === true ? weiOf(outcome.result) : undefined
  return baseFeeWei === undefined ? undefined : { baseFeeWei, tipWei: 0n }
}

function medianOf(values: readonly bigint[]): bigint {
  const sorted = values.toSorted((a, b) => (a < b ? -1 : Number(a > b)))
  return sorted[sorted.length >> 1] ?? 0n
}

export function weiOf(json: unknown): bigint | undefined {
  return typeof json === 'string' && /^0x[0-9a-f]{1,32}$/i.test(json) ? BigInt(json) : undefined
}

/** Factor on the base fee. It can rise by an eighth a block, so twice the fee lasts for about six full blocks. */
const BASE_FEE_MARGIN = 2n

/** Limits of an offer per unit of gas, in wei. */
interface FeeTerms {
  readonly minTipWei: bigint
  readonly maxFeeWei: bigint
}

/**
 * Returns the first offer of a transaction, never above the maximum fee. It tips as others do, up to the base fee:
 * otherwise whoever fills a few blocks with large tips decides what the relayer pays.
 */
export function firstFees({ baseFeeWei, tipWei }: MarketFees, terms: FeeTerms): Fees {
  return lateFees({ baseFeeWei, tipWei: smaller(tipWei, baseFeeWei) }, terms)
}

/**
 * Returns the offer for a transaction that waited long enough to need the tip that others pay, never above the maximum
 * fee.
 */
export function lateFees(market: MarketFees, terms: FeeTerms): Fees {
  const tipWei = larger(market.tipWei, terms.minTipWei)
  const maxFeeWei = smaller(BASE_FEE_MARGIN * market.baseFeeWei + tipWei, terms.maxFeeWei)
  return { maxFeeWei, maxPriorityFeeWei: smaller(tipWei, maxFeeWei) }
}

/**
 * True when the chain takes more than the maximum fee, so that no offer is mined. Tips that others pay do not count:
 * a smaller one is mined too, if later.
 */
export function isTooDear({ baseFeeWei }: MarketFees, { minTipWei, maxFeeWei }: FeeTerms): boolean {
  return baseFeeWei + minTipWei > maxFeeWei
}

/** Factor of a replacement's fees, 9/8. Nodes replace a transaction only when both fees are at least 10 % higher. */
const BUMP_NUMERATOR = 9n
const BUMP_DENOMINATOR = 8n

/** Returns the offer that replaces another; `undefined` when it would exceed the maximum fee. */
export function raisedFees(before: Fees, market: Fees | undefined, maxFeeWei: bigint): Fees | undefined {
  const least = { fee: raised(before.maxFeeWei), tip: raised(before.maxPriorityFeeWei) }
  if (least.fee > maxFeeWei) return undefined
  const fee = smaller(larger(least.fee, market?.maxFeeWei ?? 0n), maxFeeWei)
  return { maxFeeWei: fee, maxPriorityFeeWei: smaller(larger(least.tip, market?.maxPriorityFeeWei ?? 0n), fee) }
}

function raised(wei: bigint): bigint {
  return (wei * BUMP_NUMERATOR + BUMP_DENOMINATOR - 1n) / BUMP_DENOMINATOR + (wei === 0n ? 1n : 0n)
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b
}

function smaller(a: bigint, b: bigint): bigint {
  return a < b ? a : b
}
