import type { MarketRecord } from '@bezel/protocol/wire'
import { changeOf, favourites, priceOf, toggleFavourite } from '../data/markets.ts'
import { Button } from '../ui/Button.tsx'
import { Icon } from '../ui/Icon.tsx'
import { Change, PriceText } from '../ui/Money.tsx'
import { compactUsd, hourlyRate } from './figures.ts'
import { openInterestOf } from './marketList.ts'

/** The live mark price. Each one follows its own signal, so that a tick draws one cell and no row. */
export function MarkPrice({ symbol }: { readonly symbol: string }) {
  return <PriceText value={priceOf(symbol).value?.mark} flash />
}

/** The change of the last 24 hours. */
export function DayChange({ symbol }: { readonly symbol: string }) {
  return <Change rate={changeOf(symbol).value} />
}

/** The funding rate of longs; the tooltip has all rates. */
export function FundingRate({ market: { funding } }: { readonly market: MarketRecord }) {
  const title =
    `Per hour: longs ${hourlyRate(funding.fundingRateLongHourly)}, shorts ${hourlyRate(funding.fundingRateShortHourly)}, ` +
    `borrowing ${hourlyRate(funding.borrowingRateHourly)}. Positive is paid.`
  return (
    <span class="number" title={title}>
      {hourlyRate(funding.fundingRateLongHourly)}
    </span>
  )
}

/** The open interest of both sides; the tooltip has each. */
export function OpenInterest({ market }: { readonly market: MarketRecord }) {
  const { openInterestLongUsd, openInterestShortUsd } = market.funding
  return (
    <span class="number" title={`Long ${compactUsd(openInterestLongUsd)}, short ${compactUsd(openInterestShortUsd)}`}>
      {compactUsd(openInterestOf(market))}
    </span>
  )
}

/** The star that makes a market a favourite. */
export function FavouriteButton({ symbol }: { readonly symbol: string }) {
  const isFavourite = favourites.value.has(symbol)
  return (
    <Button
      kind="quiet"
      small
      class={isFavourite ? 'market-star market-star-on' : 'market-star'}
      pressed={isFavourite}
      label={`Favourite ${symbol}`}
      testId={`favourite-${symbol.replace('/', '-')}`}
      onClick={() => toggleFavourite(symbol)}
    >
      <Icon name={isFavourite ? 'starFilled' : 'star'} />
    </Button>
  )
}
