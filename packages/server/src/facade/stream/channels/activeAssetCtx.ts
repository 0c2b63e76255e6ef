import { coinsOf } from '../../coins.ts'
import type { FacadeReads } from '../../facadeReads.ts'
import { assetCtx } from '../../info/assetCtx.ts'
import { coinNameOf, type InfoRequest } from '../../info/infoRequest.ts'
import { channelText } from '../facadeTexts.ts'
import type { Telling } from '../liveValue.ts'

/** What a market is doing. */
export function activeAssetCtxTelling(reads: FacadeReads): (request: InfoRequest) => Telling | undefined {
  return (request) => {
    const chain = reads.markets()
    const coin = coinsOf(chain).named(coinNameOf(request))
    if (coin === undefined) return undefined
    const text = channelText('activeAssetCtx', JSON.stringify({ coin: coin.name, ctx: assetCtx(reads, chain, coin) }))
    return { key: text, text }
  }
}
