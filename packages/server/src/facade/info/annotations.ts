import type { MarketGroup } from '@bezel/protocol'
import { coinsOf, type Coin } from '../coins.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { coinRequest, noFields, type CoinRequest } from './infoRequest.ts'
import { defineInfo } from './infoType.ts'

// Three types about one thing: the group of each market.

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
