import { PendingOrderType } from '@bezel/protocol'
import type { Address } from 'viem'
import type { BlockTimes } from '../chain/eachBlock.ts'
import type { LocalChain } from '../chain/createLocalChain.ts'
import { toQuantity } from '../chain/jsonRpc.ts'
import type { Diamond } from '../diamond/createDiamond.ts'
import type { Prices } from '../feed/prices.ts'

/** Prices of one answer, 1e10. For a market order only `current` is set, the others are 0. */
export interface AnswerPrices {
  readonly open: bigint
  readonly high: bigint
  readonly low: bigint
  readonly current: bigint
}

/** The part of an order that its price depends on. */
interface AskingOrder {
  readonly orderType: number
  readonly trade: { readonly user: Address; readonly index: number; readonly pairIndex: number }
}

interface Sources {
  readonly chain: LocalChain
  readonly diamond: Diamond
  readonly prices: Prices
  readonly blockTimes: BlockTimes
}

const PRICE_BITS = 56n

/**
 * Reads the prices to answer an order with: the mark for a market order; for a trigger the candle since the order's
 * last edit, of the index price for a liquidation.
 */
export async function readAnswerPrices(sources: Sources, { orderType, trade }: AskingOrder): Promise<AnswerPrices> {
  const { diamond, prices } = sources
  if (!isTrigger(orderType)) return { open: 0n, high: 0n, low: 0n, current: prices.quote(trade.pairIndex).mark }
  const fromBlock = await diamond.read('getLookbackFromBlock', [trade.user, trade.index, orderType])
  const candle = prices.candleSince(trade.pairIndex, await readBlockTimeMs(sources, fromBlock))
  return orderType === PendingOrderType.LIQ_CLOSE ? candle.index : candle.mark
}

function isTrigger(orderType: number): boolean {
  return orderType >= PendingOrderType.LIMIT_OPEN && orderType <= PendingOrderType.LIQ_CLOSE
}

/**
 * Returns the wall time of a block. For one that is not remembered it is the end of its second, so that no earlier
 * price counts.
 */
export async function readBlockTimeMs(
  { chain, blockTimes }: Pick<Sources, 'chain' | 'blockTimes'>,
  blockNumber: number,
): Promise<number> {
  const remembered = blockTimes.mintedAtMs(blockNumber)
  if (remembered !== undefined) return remembered
  const block = await chain.request<{ timestamp: string } | null>('eth_getBlockByNumber', [
    toQuantity(blockNumber),
    false,
  ])
  return (Number(block?.timestamp ?? 0) + 1) * 1000 - 1
}

/** Packs the Diamond's OrderAnswer into one word, `open` in the lowest bits. */
export function packAnswer({ open, high, low, current }: AnswerPrices, timestampS: number): bigint {
  return [open, high, low, current, BigInt(timestampS)].reduceRight((word, field) => (word << PRICE_BITS) | field, 0n)
}
