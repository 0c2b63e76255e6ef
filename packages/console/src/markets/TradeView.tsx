import { useSignal, type ReadonlySignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Link } from '../router/router.ts'
import { activeChain } from '../data/chain.ts'
import { marketOf, markets, marketsProblem } from '../data/markets.ts'
import { problemOf } from '../ground/problem.ts'
import { Ticket } from '../ticket/Ticket.tsx'
import { TicketSheet } from '../ticket/TicketSheet.tsx'
import { Empty } from '../ui/Empty.tsx'
import { ProblemNotice } from '../ui/Notice.tsx'
import { AccountTabs } from './AccountTabs.tsx'
import { ChartPanel } from './chart/ChartPanel.tsx'
import { DepthPanel } from './DepthPanel.tsx'
import { MarketHeader } from './MarketHeader.tsx'
import { MarketRail } from './MarketRail.tsx'
import { TradesPanel } from './TradesPanel.tsx'
import './list.css'
import './trade.css'
import './depth.css'

/** The page of one market: chart, depth, trades, ticket and the tables of the own account. */
export function TradeView({ market: symbol }: { readonly market: string }) {
  const hasRail = useMedia('(min-width: 1600px)').value
  const hasSheet = useMedia('(max-width: 767px)').value
  if (markets.value !== null && marketOf(symbol) === undefined) return <UnknownMarket symbol={symbol} />
  const key = `${activeChain.value} ${symbol}`
  return (
    <div class="trade">
      {hasRail && <MarketRail current={symbol} />}
      <div class="trade-head">
        <MarketHeader key={key} symbol={symbol} hasRail={hasRail} />
        {markets.value === null && marketsProblem.value !== null && (
          <ProblemNotice problem={problemOf(marketsProblem.value)} />
        )}
      </div>
      <div class="trade-chart panel">
        <ChartPanel key={key} symbol={symbol} />
      </div>
      {!hasSheet && (
        <div class="trade-ticket panel">
          <Ticket key={key} market={symbol} />
        </div>
      )}
      <div class="trade-book">
        <DepthPanel key={`depth ${key}`} symbol={symbol} />
        <TradesPanel key={`trades ${key}`} symbol={symbol} />
      </div>
      <div class="trade-tables panel">
        <AccountTabs symbol={symbol} />
      </div>
      {hasSheet && <TicketSheet key={key} market={symbol} />}
    </div>
  )
}

function UnknownMarket({ symbol }: { readonly symbol: string }) {
  return (
    <Empty title={`There is no market ${symbol} on this chain`}>
      <p>
        <Link to="/markets">See all markets</Link>, or choose another chain at the top of the page.
      </p>
    </Empty>
  )
}

/** Returns whether a media query matches, and follows it while the component is mounted. */
function useMedia(query: string): ReadonlySignal<boolean> {
  const matches = useSignal(matchMedia(query).matches)
  useEffect(() => {
    const list = matchMedia(query)
    const follow = () => (matches.value = list.matches)
    follow()
    list.addEventListener('change', follow)
    return () => list.removeEventListener('change', follow)
  }, [query])
  return matches
}
