import { UnverifiedTransactionError } from '../errors/unverifiedTransactionError.ts'
import type { ReadContract } from './readDiamond.ts'
import type { ChainFacts, PendingFacts, TradeFacts } from './verifyContext.ts'

const USD_PRICE_ONE = 10n ** 8n
/** Two reads of two blocks can disagree about how many trades there are. */
const MAX_TRIES = 3

/** The trader's trades and waiting requests, from the Diamond itself. */
export async function readChainFacts(
  read: ReadContract,
  diamond: `0x${string}`,
  trader: `0x${string}`,
): Promise<ChainFacts> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const [trades, infos, pending] = await Promise.all([
      read(diamond, 'getTrades', [trader]),
      read(diamond, 'getTradeInfos', [trader]),
      read(diamond, 'getPendingOrders', [trader]),
    ])
    if (trades.length === infos.length) {
      return {
        trades: trades.map((trade, place) => tradeFacts(trade, infos[place]!)),
        pending: pending.map(pendingFacts),
      }
    }
  }
  throw new UnverifiedTransactionError('trades', 'one account of them by your node', 'two that differ, again and again')
}

type Trade = Omit<TradeFacts, 'maxSlippageP' | 'size'> & { readonly positionSizeToken: bigint }

function tradeFacts(
  trade: Trade,
  { maxSlippageP, collateralPriceUsd }: { readonly maxSlippageP: number; readonly collateralPriceUsd: number },
): TradeFacts {
  const { positionSizeToken } = trade
  // As people count it: base units whose number times the price is USD, at the token's price when the trade was opened.
  const size = positionSizeToken === 0n ? undefined : (positionSizeToken * BigInt(collateralPriceUsd)) / USD_PRICE_ONE
  return { ...trade, maxSlippageP, size }
}

function pendingFacts(pending: {
  readonly index: number
  readonly orderType: number
  readonly trade: { readonly index: number; readonly pairIndex: number; readonly long: boolean }
}): PendingFacts {
  const { index, orderType, trade } = pending
  return { index, orderType, pairIndex: trade.pairIndex, tradeIndex: trade.index, long: trade.long }
}
