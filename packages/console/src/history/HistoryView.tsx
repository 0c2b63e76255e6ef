import { useEffect } from 'preact/hooks'
import { navigate, route } from '../router/router.ts'
import { AccountGate } from '../portfolio/AccountGate.tsx'
import { mountDialogs } from '../portfolio/dialogHost.tsx'
import { Tabs } from '../ui/Tabs.tsx'
import { BooksPanel } from './BooksPanel.tsx'
import { EquityPanel } from './EquityPanel.tsx'
import { FillHistory } from './FillHistory.tsx'
import { OrderHistory } from './OrderHistory.tsx'
import { followLedger } from './ledger.ts'
import '../portfolio/portfolio.css'
import './history.css'

const TABS = [
  { id: 'equity', label: 'Equity and books' },
  { id: 'orders', label: 'Orders' },
  { id: 'fills', label: 'Fills' },
] as const

type HistoryTab = (typeof TABS)[number]['id']

/** The history of the account: equity, books, orders and fills. */
export function HistoryView() {
  useEffect(mountDialogs, [])
  const shown = route.value
  const tab = TABS.find(({ id }) => shown.view === 'history' && id === shown.tab)?.id ?? 'equity'
  const select = (id: HistoryTab): void => navigate(id === 'equity' ? '/history' : `/history/${id}`, { replace: true })
  return (
    <div class="history" data-testid="history">
      <h1 class="visually-hidden">History</h1>
      <AccountGate what="history">
        <Tabs label="History" tabs={TABS} active={tab} onSelect={select}>
          {tab === 'equity' && <Ledger />}
          {tab === 'orders' && <OrderHistory />}
          {tab === 'fills' && <FillHistory />}
        </Tabs>
      </AccountGate>
    </div>
  )
}

function Ledger() {
  useEffect(followLedger, [])
  return (
    <div class="history-ledger">
      <EquityPanel />
      <BooksPanel />
    </div>
  )
}
