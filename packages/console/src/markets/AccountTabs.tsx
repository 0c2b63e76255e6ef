import { useComputed } from '@preact/signals'
import { route, setQuery } from '../router/router.ts'
import { openOrders, positions } from '../data/account.ts'
import { FillsTable } from '../portfolio/FillsTable.tsx'
import { OrdersTable } from '../portfolio/OrdersTable.tsx'
import { PositionsTable } from '../portfolio/PositionsTable.tsx'
import { Tabs } from '../ui/Tabs.tsx'

type AccountTab = 'positions' | 'orders' | 'fills'

/** The own positions, orders and fills below the chart. The open tab is in the address. */
export function AccountTabs({ symbol }: { readonly symbol: string }) {
  const active = useComputed(() => tabOf(route.value.query))
  const tabs = useComputed(() => [
    { id: 'positions' as const, label: 'Positions', count: positions.value?.length },
    { id: 'orders' as const, label: 'Orders', count: openOrders.value?.length },
    { id: 'fills' as const, label: 'Fills' },
  ])
  return (
    <Tabs
      label="Your account"
      tabs={tabs.value}
      active={active.value}
      onSelect={(tab) => setQuery({ tab: tab === 'positions' ? null : tab })}
    >
      {active.value === 'positions' && <PositionsTable />}
      {active.value === 'orders' && <OrdersTable />}
      {active.value === 'fills' && <FillsTable market={symbol} />}
    </Tabs>
  )
}

/** Returns the tab that the address names; a link to an order means the orders. */
function tabOf({ tab, order }: Readonly<Record<string, string>>): AccountTab {
  if (tab === 'orders' || tab === 'fills' || tab === 'positions') return tab
  return order === undefined ? 'positions' : 'orders'
}
