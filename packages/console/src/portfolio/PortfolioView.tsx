import type { ComponentChildren } from 'preact'
import { Link } from '../router/router.ts'
import { account, openOrders, positions } from '../data/account.ts'
import { priceOf } from '../data/markets.ts'
import { session } from '../session/session.ts'
import { Button } from '../ui/Button.tsx'
import { Money } from '../ui/Money.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { FillsTable } from './FillsTable.tsx'
import { OrdersTable } from './OrdersTable.tsx'
import { PositionsTable } from './PositionsTable.tsx'
import { askFlatten } from './dialogs.ts'
import { totalsOf } from './valuation.ts'
import './portfolio.css'

/** The portfolio: positions first, then orders and fills; totals beside them, or after them on small screens. */
export function PortfolioView() {
  const state = session.value
  const isReadable = state.kind === 'connected' && state.isSignedIn
  return (
    <div class="portfolio" data-testid="portfolio">
      <h1 class="visually-hidden">Portfolio</h1>
      <div class="portfolio-main">
        <PositionsSection isReadable={isReadable} />
        {isReadable && (
          <>
            <section class="portfolio-section" aria-labelledby="portfolio-orders">
              <header class="portfolio-header">
                <h2 id="portfolio-orders">Orders</h2>
                <Link to="/history/orders">All orders</Link>
              </header>
              <OrdersTable />
            </section>
            <section class="portfolio-section" aria-labelledby="portfolio-fills">
              <header class="portfolio-header">
                <h2 id="portfolio-fills">Fills</h2>
                <Link to="/history/fills">All fills</Link>
              </header>
              <FillsTable />
            </section>
          </>
        )}
      </div>
      {isReadable && <Totals />}
    </div>
  )
}

function PositionsSection({ isReadable }: { readonly isReadable: boolean }) {
  const count = (positions.value?.length ?? 0) + (openOrders.value?.length ?? 0)
  return (
    <section class="portfolio-section" aria-labelledby="portfolio-positions">
      <header class="portfolio-header">
        <h2 id="portfolio-positions">Positions</h2>
        {isReadable && (
          <Button small kind="danger" disabled={count === 0} testId="flatten" onClick={() => askFlatten()}>
            Flatten
          </Button>
        )}
      </header>
      <PositionsTable />
    </section>
  )
}

/** The sums of the account: what is in positions, and what is in the wallet. */
function Totals() {
  const totals = totalsOf(positions.value ?? [], (market) => priceOf(market).value?.mark)
  const balances = account.value?.balances ?? null
  return (
    <aside class="portfolio-totals" aria-label="Totals" data-testid="totals">
      {totals.map(({ collateralSymbol: symbol, positions: count, collateral, pnl, worth }) => (
        <section key={symbol} class="portfolio-card">
          <h2>In positions, {symbol}</h2>
          <Line label="Open positions">{count}</Line>
          <Line label="Margin">
            <Money amount={collateral} symbol={symbol} />
          </Line>
          <Line label="Open profit">
            <Money amount={pnl} symbol={symbol} tone="auto" />
          </Line>
          <Line label="Worth">
            <Money amount={worth} symbol={symbol} />
          </Line>
        </section>
      ))}
      <section class="portfolio-card">
        <h2>Wallet</h2>
        {balances === null ? (
          <Skeleton lines={2} />
        ) : (
          balances.map(({ collateral, balance }) => (
            <Line key={collateral} label={collateral}>
              <Money amount={balance} symbol={collateral} />
            </Line>
          ))
        )}
      </section>
    </aside>
  )
}

function Line({ label, children }: { readonly label: string; readonly children?: ComponentChildren }) {
  return (
    <div class="portfolio-line">
      <span>{label}</span>
      <span>{children}</span>
    </div>
  )
}
