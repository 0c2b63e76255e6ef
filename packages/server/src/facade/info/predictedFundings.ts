import { coinsOf } from '../coins.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { assetCtx } from './assetCtx.ts'
import { noFields } from './infoRequest.ts'
import { defineInfo, remembered } from './infoType.ts'

interface PredictedFunding {
  readonly fundingRate: string
  /** Epoch ms. */
  readonly nextFundingTime: number
  readonly fundingIntervalHours: number
}

/** The predicted rate of each coin at each venue. */
type PredictedFundings = readonly (readonly [
  coin: string,
  venues: readonly (readonly [venue: string, funding: PredictedFunding])[],
])[]

/** Name under which clients look for the exchange's own rate. Other venues are not watched. */
const OWN_VENUE = 'HlPerp'

const HOUR_MS = 3_600_000

const rememberedFundings = remembered<PredictedFundings>(
  (reads) => `${reads.marketsVersion()} ${reads.priceVersion()} ${nextHourMs(reads)}`,
  (reads) => JSON.stringify(fundingsOf(reads)),
)

/**
 * The present rate of longs, as in `metaAndAssetCtxs`: it is charged for every second, so it is what the next hour
 * costs while it stays as it is.
 */
export const predictedFundings = defineInfo<void, PredictedFundings>({
  parse: noFields,
  answer(_request, reads) {
    reads.markets()
    return rememberedFundings(reads)
  },
})

function fundingsOf(reads: FacadeReads): PredictedFundings {
  const chain = reads.markets()
  const coins = coinsOf(chain).universe.filter((coin) => !coin.isDelisted && reads.quote(coin.pairIndex) !== undefined)
  return coins.map((coin) => {
    const { funding: fundingRate } = assetCtx(reads, chain, coin)
    return [coin.name, [[OWN_VENUE, { fundingRate, nextFundingTime: nextHourMs(reads), fundingIntervalHours: 1 }]]]
  })
}

function nextHourMs({ now }: FacadeReads): number {
  return (Math.floor(now() / HOUR_MS) + 1) * HOUR_MS
}
