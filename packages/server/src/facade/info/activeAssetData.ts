import { formatDecimal } from '@bezel/protocol'
import { coinPrice, coinsOf, type Coin } from '../coins.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { defaultLeverage } from '../leverage.ts'
import { pointed, roundTo, steppedPx } from '../priceText.ts'
import { usdText } from '../usd.ts'
import { coinNameOf, lower, userOf, type InfoRequest } from './infoRequest.ts'

const SIZE_DECIMALS = 18
/** USD at 1e6 over a price at 1e10 to coins at 1e18. */
const TO_SIZE = 10n ** 22n

/** The leverage of a trader's next orders in a coin, and how much that buys. `null` for an unknown coin. */
export async function activeAssetData(request: InfoRequest, reads: FacadeReads): Promise<unknown> {
  const trader = userOf(request)
  const chain = reads.markets()
  const coin = coinsOf(chain).named(coinNameOf(request))
  const pair = coin && chain.pairs.get(coin.pairIndex)
  if (coin === undefined || pair === undefined) return null
  const leverage = (await reads.leverageOf(trader, coin.pairIndex)) ?? defaultLeverage(pair)
  const walletUsd = await reads.wallet(trader)
  const mark = reads.quote(coin.pairIndex)?.mark
  const most = mark === undefined ? '0.0' : mostText(coin, walletUsd * BigInt(leverage), mark)
  const available = pointed(usdText(walletUsd))
  return {
    user: lower(trader),
    coin: coin.name,
    leverage: { type: 'isolated', value: leverage, rawUsd: '0.0' },
    maxTradeSzs: [most, most],
    availableToTrade: [available, available],
    markPx: mark === undefined ? '0.0' : steppedPx(coin, mark),
  }
}

function mostText(coin: Coin, usd: bigint, mark: bigint): string {
  const size = (usd * TO_SIZE) / coinPrice(coin, mark)
  return pointed(formatDecimal(roundTo(size, 10n ** BigInt(SIZE_DECIMALS - coin.szDecimals), 'down'), SIZE_DECIMALS))
}
