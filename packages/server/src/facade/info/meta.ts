import { coinsOf, type Coin } from '../coins.ts'
import type { FacadeReads } from '../facadeReads.ts'
import type { InfoRequest } from './infoRequest.ts'
import { remembered, type ReadyAnswer } from './remembered.ts'

/** Of an exchange within the exchange: there are none. */
export const NO_META = { universe: [], marginTables: [], collateralToken: 0 }

const answerOf = remembered((reads) => String(reads.marketsVersion()), metaText)

/** What can be traded. An asset's id is its place in the list, so a pair that is closed or missing still has one. */
export function meta(_request: InfoRequest, reads: FacadeReads): ReadyAnswer {
  reads.markets()
  return answerOf(reads)
}

function metaText(reads: FacadeReads): string {
  const { universe } = coinsOf(reads.markets())
  const leverages = [...new Set(universe.map(({ maxLeverage }) => maxLeverage))].toSorted((a, b) => a - b)
  return JSON.stringify({
    universe: universe.map(assetOf),
    marginTables: leverages.map(marginTable),
    collateralToken: 0,
  })
}

function assetOf({ name, szDecimals, maxLeverage, isDelisted }: Coin) {
  return {
    name,
    szDecimals,
    maxLeverage,
    marginTableId: maxLeverage,
    onlyIsolated: true,
    marginMode: 'noCross',
    ...(isDelisted ? { isDelisted } : {}),
  }
}

/** One tier: the largest leverage is the same for every size. */
function marginTable(maxLeverage: number) {
  return [maxLeverage, { description: '', marginTiers: [{ lowerBound: '0.0', maxLeverage }] }]
}
