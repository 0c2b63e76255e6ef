import { coinsOf } from '../coins.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { steppedPx } from '../priceText.ts'
import { quotedPair } from './assetCtx.ts'
import type { InfoRequest } from './infoRequest.ts'
import { remembered, type ReadyAnswer } from './remembered.ts'

const answerOf = remembered((reads) => `${reads.marketsVersion()} ${reads.priceVersion()}`, midsText)

/** The mark of every coin that has one. */
export function allMids(_request: InfoRequest, reads: FacadeReads): ReadyAnswer {
  reads.markets()
  return answerOf(reads)
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
