import { PendingOrderType } from '@bezel/protocol'
import type { Address } from 'viem'
import type { BlockTimes } from '../chain/blockTimes.ts'
import type { LocalChain } from '../chain/createLocalChain.ts'
import { toQuantity } from '../chain/quantity.ts'
import type { Diamond } from '../diamond/createDiamond.ts'
import type { Prices } from '../feed/prices.ts'
import type { AnswerPrices } from './packAnswer.ts'

/** What an order asks a price for. */
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

/** The mark for a market order; for a trigger the candle since the order's last edit, of the index price for a liquidation. */
export async function answerPrices(sources: Sources, { orderType, trade }: AskingOrder): Promise<AnswerPrices> {
  const { diamond, prices } = sources
  if (!isTrigger(orderType)) return { open: 0n, high: 0n, low: 0n, current: prices.quote(trade.pairIndex).mark }
  const fromBlock = await diamond.read('getLookbackFromBlock', [trade.user, trade.index, orderType])
  const candle = prices.candleSince(trade.pairIndex, await blockTimeMs(sources, fromBlock))
  return orderType === PendingOrderType.LIQ_CLOSE ? candle.index : candle.mark
}

function isTrigger(orderType: number): boolean {
  return orderType >= PendingOrderType.LIMIT_OPEN && orderType <= PendingOrderType.LIQ_CLOSE
}

/** Wall time of a block; for one that is not remembered the end of its second, so that no earlier price counts. */
export async function blockTimeMs(
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
