import type { MarketRecord } from '@bezel/protocol/wire'
import type { ComponentChildren } from 'preact'
import { Link } from '../router/router.ts'
import { marketOf, priceOf } from '../data/markets.ts'
import { Icon } from '../ui/Icon.tsx'
import { PriceText } from '../ui/Money.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { compactUsd, hourlyRate } from './figures.ts'
import { DayChange, FavouriteButton, MarkPrice } from './MarketFigures.tsx'
import { MarketStatusText } from './MarketStatusText.tsx'

export interface MarketHeaderProps {
  readonly symbol: string
  /** True while the list of markets is beside the page, so that no link to it is needed. */
  readonly hasRail: boolean
}

/** Name, price, change, status, funding and open interest of a market. */
export function MarketHeader({ symbol, hasRail }: MarketHeaderProps) {
  const market = marketOf(symbol)
  return (
    <header class="market-head panel">
      <div class="market-head-name">
        <FavouriteButton symbol={symbol} />
        <h1 class="market-head-title" tabIndex={-1}>
          {symbol}
        </h1>
        {!hasRail && (
          <Link to="/markets" class="market-head-all" label="All markets">
            <Icon name="markets" />
          </Link>
        )}
      </div>
      <div class="market-head-price">
        <MarkPrice symbol={symbol} />
        <DayChange symbol={symbol} />
      </div>
      <MarketStatusText symbol={symbol} />
      <dl class="market-head-figures">
        <Figure name="Index" note="Price by which positions are liquidated">
          <IndexPrice symbol={symbol} />
        </Figure>
        <Rates market={market} />
      </dl>
    </header>
  )
}

function Rates({ market }: { readonly market: MarketRecord | undefined }) {
  const funding = market?.funding
  const text = (value: string | undefined, write: (value: string) => string) =>
    value === undefined ? <Skeleton width="8ch" /> : <span class="number">{write(value)}</span>
  return (
    <>
      <Figure name="Funding / h, long" note="Positive is paid by longs, negative is received">
        {text(funding?.fundingRateLongHourly, hourlyRate)}
      </Figure>
      <Figure name="Funding / h, short" note="Positive is paid by shorts, negative is received">
        {text(funding?.fundingRateShortHourly, hourlyRate)}
      </Figure>
      <Figure name="Borrowing / h" note="Paid by both sides">
        {text(funding?.borrowingRateHourly, hourlyRate)}
      </Figure>
      <Figure name="Open interest, long" note="Size of all open longs in USD">
        {text(funding?.openInterestLongUsd, compactUsd)}
      </Figure>
      <Figure name="Open interest, short" note="Size of all open shorts in USD">
        {text(funding?.openInterestShortUsd, compactUsd)}
      </Figure>
    </>
  )
}

function IndexPrice({ symbol }: { readonly symbol: string }) {
  return <PriceText value={priceOf(symbol).value?.index} />
}

interface FigureProps {
  readonly name: string
  readonly note: string
  readonly children: ComponentChildren
}

function Figure({ name, note, children }: FigureProps) {
  return (
    <div class="market-figure" title={note}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}
