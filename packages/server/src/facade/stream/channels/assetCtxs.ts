import { deflateRawSync } from 'node:zlib'
import type { FacadeReads } from '../../facadeReads.ts'
import { midsOf } from '../../info/allMids.ts'
import { assetCtxTexts } from '../../info/assetCtx.ts'
import { isOtherDex } from '../../info/infoRequest.ts'
import {
  channelText,
  sendOnce,
  type FacadeChannel,
  type FacadeCounts,
  type FacadeStreamSources,
} from './facadeChannel.ts'
import { createPacedValue } from './liveValues.ts'

// Three channels of the state of all markets at once, in the shapes of three kinds of pages.

type AllMarketsChannel = 'assetCtxs' | 'allDexsAssetCtxs' | 'fastAssetCtxs'

/** The data of each channel as JSON. */
const DATA: Readonly<Record<AllMarketsChannel, (reads: FacadeReads) => string>> = {
  assetCtxs: (reads) => `{"dex":"","ctxs":${ctxsText(reads)}}`,
  allDexsAssetCtxs: (reads) => `{"ctxs":[["",${ctxsText(reads)}]]}`,
  fastAssetCtxs(reads) {
    const mids = JSON.parse(midsOf(reads).text) as Readonly<Record<string, string>>
    const prices = Object.entries(mids).map(([coin, px]) => [coin, { markPx: px, midPx: px }] as const)
    return JSON.stringify(Object.fromEntries(prices))
  },
}

export function createAssetCtxs(
  { feed, reads }: Pick<FacadeStreamSources, 'feed' | 'reads'>,
  counts: FacadeCounts,
): Readonly<Record<AllMarketsChannel, FacadeChannel>> {
  const channelOf = (name: AllMarketsChannel): FacadeChannel => {
    const read = () => {
      const data = DATA[name](reads)
      return { key: data, text: messageOf(name, data) }
    }
    const value = createPacedValue({ feed, counts: counts[name], read })
    return {
      parse(body) {
        if (isOtherDex(body)) return ctxsElsewhere(name, String(body.dex))
        reads.markets()
        return { key: '', open: value.subscribe }
      },
      close: value.close,
    }
  }
  return {
    assetCtxs: channelOf('assetCtxs'),
    allDexsAssetCtxs: channelOf('allDexsAssetCtxs'),
    fastAssetCtxs: channelOf('fastAssetCtxs'),
  }
}

/** Returns the message of a channel. Clients expect that of `fastAssetCtxs` compressed: raw DEFLATE in base64. */
function messageOf(name: AllMarketsChannel, data: string): string {
  if (name !== 'fastAssetCtxs') return channelText(name, data)
  return channelText(name, JSON.stringify(deflateRawSync(data).toString('base64')))
}

function ctxsText(reads: FacadeReads): string {
  return `[${assetCtxTexts(reads).join(',')}]`
}

/** Returns a subscription to the markets of a builder-deployed dex: empty, because there are none. */
function ctxsElsewhere(name: AllMarketsChannel, dex: string) {
  const text = messageOf(name, JSON.stringify(name === 'fastAssetCtxs' ? {} : { dex, ctxs: [] }))
  return { key: dex, open: (connection: Parameters<typeof sendOnce>[0]) => sendOnce(connection, text) }
}
