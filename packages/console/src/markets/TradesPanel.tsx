import type { RecentTrade } from '@bezel/protocol/wire'
import { useTrades } from '../data/useTopic.ts'
import { formatPrice } from '../ground/format.ts'
import { Skeleton } from '../ui/Skeleton.tsx'
import { Time } from '../ui/Time.tsx'
import { actionWords, compactUsd } from './figures.ts'

/** Executions that are listed. */
const SHOWN = 30

/** The last executions of all traders in a market. */
export function TradesPanel({ symbol }: { readonly symbol: string }) {
  const trades = useTrades(symbol).value
  return (
    <section class="trades panel" data-testid="trades" aria-labelledby="trades-title">
      <h2 id="trades-title" class="book-title">
        Recent trades
      </h2>
      <div class="trades-scroll" tabIndex={0} role="region" aria-labelledby="trades-title">
        <table class="trades-table" aria-busy={trades === null}>
          <caption class="visually-hidden">Executions of all traders in {symbol}, newest first</caption>
          <thead>
            <tr>
              <th scope="col">Price</th>
              <th scope="col">Size</th>
              <th scope="col">Trade</th>
              <th scope="col">Time</th>
            </tr>
          </thead>
          <tbody>
            {trades === null
              ? Array.from({ length: 8 }, (_, row) => <SkeletonRow key={row} />)
              : trades.slice(0, SHOWN).map((trade) => <TradeRow key={keyOf(trade)} trade={trade} />)}
          </tbody>
        </table>
        {trades?.length === 0 && <p class="book-none">Nobody has traded here lately.</p>}
      </div>
    </section>
  )
}

function TradeRow({ trade: { price, sizeUsd, side, action, timestamp } }: { readonly trade: RecentTrade }) {
  return (
    <tr>
      <td class="number">{formatPrice(price)}</td>
      <td class="number">{compactUsd(sizeUsd)}</td>
      <td title={actionWords(action)}>
        <span class={side === 'long' ? 'tone-up' : 'tone-down'}>{side === 'long' ? 'Long' : 'Short'}</span>
        <span class="trades-verb"> {actionWords(action)}</span>
      </td>
      <td>
        <Time ms={timestamp} as="time" />
      </td>
    </tr>
  )
}

function SkeletonRow() {
  return (
    <tr>
      <td colSpan={4}>
        <Skeleton />
      </td>
    </tr>
  )
}

/** One transaction can hold several executions, of different sizes or kinds. */
function keyOf({ txHash, action, sizeUsd, price }: RecentTrade): string {
  return `${txHash} ${action} ${sizeUsd} ${price}`
}
