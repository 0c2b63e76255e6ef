import type { MarketGroup } from '@bezel/protocol'
import { coinsOf, type Coin } from '../coins.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { MalformedInfoError, noFields, coinRequest, type CoinRequest } from './infoRequest.ts'
import { defineInfo, remembered, type WrittenText } from './infoType.ts'

/** The markets of the exchange. An asset's id is its place in the universe. */
export interface Meta {
  readonly universe: readonly Asset[]
  readonly marginTables: readonly (readonly [id: number, table: MarginTable])[]
  readonly collateralToken: number
}

interface Asset {
  readonly name: string
  readonly szDecimals: number
  readonly maxLeverage: number
  readonly marginTableId: number
  readonly onlyIsolated: boolean
  readonly marginMode: 'noCross'
  readonly isDelisted?: boolean
}

interface MarginTable {
  readonly description: string
  readonly marginTiers: readonly { readonly lowerBound: string; readonly maxLeverage: number }[]
}

/** The meta of a builder-deployed dex, of which there are none. */
export const NO_META: Meta = { universe: [], marginTables: [], collateralToken: 0 }

/**
 * The markets that can be traded. A closed or missing pair keeps its place, so that the ids of the others stay the
 * same.
 */
export const meta = defineInfo<void, Meta>({
  parse: noFields,
  answer: (_request, reads) => metaOf(reads),
  inOtherDex: () => NO_META,
})

const rememberedMeta = remembered<Meta>(
  (reads) => String(reads.marketsVersion()),
  (reads) => JSON.stringify(makeMeta(reads)),
)

/** Returns the meta of a chain's markets. Throws `NOT_READY` until they have been read. */
export function metaOf(reads: FacadeReads): WrittenText<Meta> {
  reads.markets()
  return rememberedMeta(reads)
}

const rememberedMetas = remembered<readonly Meta[]>(
  (reads) => String(reads.marketsVersion()),
  (reads) => `[${metaOf(reads).text}]`,
)

/** The meta of every dex, of which there is one. */
export const allPerpMetas = defineInfo<void, readonly Meta[]>({
  parse: noFields,
  answer(_request, reads) {
    reads.markets()
    return rememberedMetas(reads)
  },
})

/** The margin table of an id, which is the largest leverage of the coins that have it. `null` for an unknown id. */
export const marginTable = defineInfo<{ readonly id: number }, MarginTable | null>({
  parse({ id }) {
    if (!Number.isSafeInteger(id)) throw new MalformedInfoError()
    return { id: id as number }
  },
  answer: ({ id }, reads) =>
    coinsOf(reads.markets()).universe.some(({ maxLeverage }) => maxLeverage === id) ? marginTableOf(id) : null,
  inOtherDex: () => null,
})

function makeMeta(reads: FacadeReads): Meta {
  const { universe } = coinsOf(reads.markets())
  const leverages = [...new Set(universe.map(({ maxLeverage }) => maxLeverage))].toSorted((a, b) => a - b)
  return {
    universe: universe.map(assetOf),
    marginTables: leverages.map((leverage) => [leverage, marginTableOf(leverage)]),
    collateralToken: 0,
  }
}

function assetOf({ name, szDecimals, maxLeverage, isDelisted }: Coin): Asset {
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

/** Returns a table with one tier, because the largest leverage is the same for every size. */
function marginTableOf(maxLeverage: number): MarginTable {
  return { description: '', marginTiers: [{ lowerBound: '0.0', maxLeverage }] }
}

// Three more types, about one thing: the group of each market.

/** The group of each coin. */
export const perpCategories = defineInfo<void, readonly (readonly [coin: string, category: MarketGroup])[]>({
  parse: noFields,
  answer: (_request, reads) => categoriesOf(reads),
})

/** The group of each coin, in an object that has room for more. */
export const perpConciseAnnotations = defineInfo<
  void,
  readonly (readonly [coin: string, annotation: { readonly category: MarketGroup }])[]
>({
  parse: noFields,
  answer: (_request, reads) => categoriesOf(reads).map(([coin, category]) => [coin, { category }]),
})

/** The group of one coin, and its market natively. `null` for an unknown coin. */
export const perpAnnotation = defineInfo<
  CoinRequest,
  { readonly category: MarketGroup; readonly description: string } | null
>({
  parse: coinRequest,
  answer({ coin }, reads) {
    const category = coin && groupOf(reads, coin)
    return category === undefined ? null : { category, description: coin?.symbol ?? '' }
  },
})

function categoriesOf(reads: FacadeReads): readonly (readonly [coin: string, category: MarketGroup])[] {
  return coinsOf(reads.markets()).universe.flatMap((coin) => {
    const group = groupOf(reads, coin)
    return group === undefined ? [] : [[coin.name, group] as const]
  })
}

function groupOf(reads: FacadeReads, { pairIndex }: Coin): MarketGroup | undefined {
  return reads.markets().pairs.get(pairIndex)?.group
}
