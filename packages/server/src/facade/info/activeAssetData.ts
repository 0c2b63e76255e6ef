import { BaseSize, MicroUsd, Price } from '@bezel/protocol'
import { coinPrice, type Coin, defaultLeverage } from '../coins.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { pointed, roundTo, steppedPx } from '../priceText.ts'
import { coinRequest, lower, userOf, type CoinRequest, type UserRequest } from './infoRequest.ts'
import { defineInfo } from './infoType.ts'

type ActiveAssetDataRequest = UserRequest & CoinRequest

interface ActiveAssetData {
  readonly user: string
  readonly coin: string
  readonly leverage: { readonly type: 'isolated'; readonly value: number; readonly rawUsd: string }
  readonly maxTradeSzs: readonly [buy: string, sell: string]
  readonly availableToTrade: readonly [buy: string, sell: string]
  readonly markPx: string
}

/**
 * The leverage of a user's next orders in a coin, and the largest size that the wallet allows with it. `null` for an
 * unknown coin.
 */
export const activeAssetData = defineInfo<ActiveAssetDataRequest, ActiveAssetData | null>({
  parse: (body, reads) => ({ user: userOf(body), ...coinRequest(body, reads) }),
  answer: readActiveAssetData,
})

export async function readActiveAssetData(
  { user, coin }: ActiveAssetDataRequest,
  reads: FacadeReads,
): Promise<ActiveAssetData | null> {
  const pair = coin && reads.markets().pairs.get(coin.pairIndex)
  if (coin === undefined || pair === undefined) return null
  const leverage = (await reads.leverageOf(user, coin.pairIndex)) ?? defaultLeverage(pair)
  const walletUsd = await reads.wallet(user)
  const mark = reads.quote(coin.pairIndex)?.mark
  const most = mark === undefined ? '0.0' : mostText(coin, MicroUsd.of(walletUsd * BigInt(leverage)), mark)
  const available = pointed(MicroUsd.format(walletUsd))
  return {
    user: lower(user),
    coin: coin.name,
    leverage: { type: 'isolated', value: leverage, rawUsd: '0.0' },
    maxTradeSzs: [most, most],
    availableToTrade: [available, available],
    markPx: mark === undefined ? '0.0' : steppedPx(coin, mark),
  }
}

function mostText(coin: Coin, usd: MicroUsd, mark: Price): string {
  const size = BaseSize.of((usd * Price.one * BaseSize.one) / MicroUsd.one / coinPrice(coin, mark))
  return pointed(BaseSize.format(roundTo(size, 10n ** BigInt(BaseSize.decimals - coin.szDecimals), 'down')))
}
