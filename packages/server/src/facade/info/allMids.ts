import { coinsOf } from '../coins.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { steppedPx } from '../priceText.ts'
import { quotedPair } from './assetCtx.ts'
import { noFields } from './infoRequest.ts'
import { defineInfo, remembered, type WrittenText } from './infoType.ts'

/** Prices by coin name. */
type AllMids = Readonly<Record<string, string>>

/** The mark price of every coin that has one. */
export const allMids = defineInfo<void, AllMids>({
  parse: noFields,
  answer: (_request, reads) => midsOf(reads),
  inOtherDex: () => ({}),
})

const rememberedMids = remembered<AllMids>((reads) => `${reads.marketsVersion()} ${reads.priceVersion()}`, midsText)

/** Returns the mark price of every coin that has one. Throws `NOT_READY` until the markets have been read. */
export function midsOf(reads: FacadeReads): WrittenText<AllMids> {
  reads.markets()
  return rememberedMids(reads)
}

function midsText(reads: FacadeReads): string {
  const chain = reads.markets()
  const mids: string[] = []
  for (const coin of coinsOf(chain).universe) {
    if (quotedPair(reads, chain, coin) === undefined) continue
    mids.push(`${JSON.stringify(coin.name)}:"${steppedPx(coin, reads.quote(coin.pairIndex)!.mark)}"`)
  }
  return `{${mids.join(',')}}`
}
