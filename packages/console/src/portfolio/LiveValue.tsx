import type { Position } from '@bezel/sdk'
import { priceOf } from '../data/markets.ts'
import { formatPercent } from '../ground/format.ts'
import { Change, Money, PriceText } from '../ui/Money.tsx'
import { liquidationDistance, valueAt, type Valuation } from './valuation.ts'

interface LiveProps {
  readonly position: Position
}

/** Returns a position valued at the newest mark. Reads the price of its market, so its component follows it. */
function useValuation(position: Position): Valuation {
  return valueAt(position, priceOf(position.market).value?.mark ?? position.markPrice)
}

/** The profit of a position at the newest mark, in tokens and in percent. */
export function LivePnl({ position }: LiveProps) {
  const { pnl, pnlRate } = useValuation(position)
  return (
    <span class="portfolio-two">
      <Money amount={pnl} symbol={position.collateralSymbol} tone="auto" />
      <Change rate={pnlRate} />
    </span>
  )
}

/** The size of a position, and what it is at the newest mark. */
export function LiveSize({ position }: LiveProps) {
  const { notional } = useValuation(position)
  const [base, quote] = position.market.split('/')
  return (
    <span class="portfolio-two">
      <Money amount={position.size} symbol={base} decimals={8} />
      <span class="portfolio-second">
        <Money amount={notional} symbol={quote} decimals={2} />
      </span>
    </span>
  )
}

/** The entry price of a position above the newest mark. */
export function LiveMark({ position }: LiveProps) {
  const { mark } = useValuation(position)
  return (
    <span class="portfolio-two">
      <PriceText value={position.entryPrice} />
      <span class="portfolio-second">
        <PriceText value={mark} flash />
      </span>
    </span>
  )
}

/** Share of the mark below which a liquidation is near. */
const NEAR = 0.05

/** The liquidation price of a position, and how far the mark is from it. */
export function LiveLiquidation({ position }: LiveProps) {
  const { mark } = useValuation(position)
  const distance = liquidationDistance(position, mark)
  const isNear = Number(distance) < NEAR
  return (
    <span class="portfolio-two">
      <PriceText value={position.liquidationPrice} />
      <span class={isNear ? 'portfolio-second portfolio-near' : 'portfolio-second'}>
        {isNear ? 'near, ' : ''}
        {formatPercent(distance, { digits: 1 })} away
      </span>
    </span>
  )
}
