import { computed, useComputed, useSignal, useSignalEffect } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { account, openOrders, positions } from '../data/account.ts'
import { priceOf } from '../data/markets.ts'
import { serverNow } from '../data/now.ts'
import { Empty } from '../ui/Empty.tsx'
import { Money } from '../ui/Money.tsx'
import { Notice, ProblemNotice } from '../ui/Notice.tsx'
import { SegmentedControl } from '../ui/SegmentedControl.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { theme } from '../ui/theme.ts'
import { nowSecond } from '../ui/clock.ts'
import type { EquityChart } from './drawEquity.ts'
import { collateralsOf, equityLines, LINES, type EquityLines, type LineName } from './equity.ts'
import { ledger } from './ledger.ts'
import { worthNow } from './worth.ts'

/** Equity and PnL over time, with fees, funding and borrowing as lines of their own. */
export function EquityPanel() {
  const { entries, problem } = ledger.value
  const chosen = useSignal<string | null>(null)
  const symbols = entries === null ? [] : collateralsOf(entries)
  const symbol = symbols.find((one) => one === chosen.value) ?? symbols[0]
  return (
    <section class="history-panel" aria-labelledby="history-equity">
      <header class="portfolio-header">
        <h2 id="history-equity">Equity and profit</h2>
        {symbols.length > 1 && symbol !== undefined && (
          <SegmentedControl
            label="Collateral"
            options={symbols.map((value) => ({ value, label: value }))}
            value={symbol}
            onChange={(value) => (chosen.value = value)}
          />
        )}
      </header>
      <ProblemNotice problem={problem} />
      {entries === null && problem === null && <Skeleton height="420px" />}
      {entries !== null && symbol === undefined && (
        <Empty title="Nothing was traded yet.">The line begins with your first fill.</Empty>
      )}
      {symbol !== undefined && <Lines key={symbol} symbol={symbol} />}
    </section>
  )
}

function Lines({ symbol }: { readonly symbol: string }) {
  const lines = useComputed(() => linesNow(symbol))
  const hasFailed = useSignal(false)
  const container = useRef<HTMLDivElement>(null)
  const chart = useSignal<EquityChart | null>(null)
  useEffect(() => {
    let isOver = false
    const load = async (): Promise<void> => {
      try {
        const { drawEquity } = await import('./drawEquity.ts')
        if (!isOver && container.current !== null) chart.value = drawEquity(container.current)
      } catch {
        hasFailed.value = true
      }
    }
    void load()
    return () => {
      isOver = true
      chart.peek()?.remove()
      chart.value = null
    }
  }, [])
  useSignalEffect(() => chart.value?.setLines(lines.value.lines))
  useSignalEffect(() => {
    // The colours change with the theme.
    void theme.value
    chart.value?.paint()
  })
  return (
    <>
      <Legend lines={lines.value} />
      {hasFailed.value && (
        <Notice tone="bad" title="The chart could not be loaded">
          Its numbers are above and in the books. Reload the page to try again.
        </Notice>
      )}
      <div
        class="history-chart"
        ref={container}
        data-testid="equity-chart"
        role="img"
        aria-label={`Equity and profit in ${symbol} over time; the last values are above`}
      />
      <p class="history-end">
        Equity is drawn back from what the account is worth now, so payments to and from the wallet shift the whole
        line. Its last point has the open profit. Charts by{' '}
        <a href="https://www.tradingview.com/" target="_blank" rel="noreferrer">
          TradingView
        </a>
        .
      </p>
    </>
  )
}

const LIVE_MS = 15_000

/** Changes every 15 s: marks change several times a second, and a chart of weeks need not follow each of them. */
const slowTick = computed(() => Math.floor(nowSecond.value / LIVE_MS))

function linesNow(symbol: string): EquityLines {
  void slowTick.value
  const entries = ledger.value.entries ?? []
  const [wallet, held, orders] = [account.value, positions.value, openOrders.value ?? []]
  if (wallet === null || held === null) return equityLines(entries, symbol, null)
  const markOf = (market: string): string | undefined => priceOf(market).peek()?.mark
  const holdings = { account: wallet, positions: held, orders, markOf }
  return equityLines(entries, symbol, worthNow(holdings, symbol, serverNow()))
}

const NAMES: Readonly<Record<LineName, string>> = {
  equity: 'Equity',
  netPnl: 'Net profit',
  fees: 'Trading fees',
  funding: 'Funding',
  borrowing: 'Borrowing',
}

/** The last value of each line, in its colour and in words. */
function Legend({ lines: { lines, collateralSymbol } }: { readonly lines: EquityLines }) {
  return (
    <dl class="history-legend" data-testid="equity-legend">
      {LINES.map((name) => (
        <div key={name} class={`history-key history-key-${name}`}>
          <dt>{NAMES[name]}</dt>
          <dd>
            <Money
              amount={lines[name].at(-1)?.value ?? null}
              symbol={collateralSymbol}
              tone={name === 'equity' ? 'none' : 'auto'}
            />
          </dd>
        </div>
      ))}
    </dl>
  )
}
