import type { ChannelCounts } from '../../../stream/streamCounts.ts'
import { assetCtx } from '../../info/assetCtx.ts'
import { channelText, requiredCoin, type FacadeChannel, type FacadeStreamSources } from './facadeChannel.ts'
import { createCoinValues } from './liveValues.ts'

/** Creates the channel of a market's state, as `metaAndAssetCtxs` of `/info` answers it. */
export function createActiveAssetCtx(sources: FacadeStreamSources, counts: ChannelCounts): FacadeChannel {
  const { reads } = sources
  const ctxs = createCoinValues<null>({
    ...sources,
    counts,
    read(coin) {
      const ctx = assetCtx(reads, reads.markets(), coin)
      const text = channelText('activeAssetCtx', JSON.stringify({ coin: coin.name, ctx }))
      return { key: text, text }
    },
  })
  return {
    parse(body) {
      const coin = requiredCoin(body, reads)
      return { key: coin.name, open: (connection) => ctxs.subscribe(connection, coin, null) }
    },
    close: ctxs.close,
  }
}
