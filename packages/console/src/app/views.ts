import type { ComponentType } from 'preact'
import type { IconName } from '../ui/Icon.tsx'
import type { Route, ViewName } from '../router/router.ts'

/** A view that has a page of its own. */
export type PageName = Exclude<ViewName, 'missing'>

/** A page of the console in the navigation. */
export interface Page {
  readonly view: PageName
  readonly label: string
  readonly icon: IconName
  /** Key after `g` that opens it. */
  readonly key: string
  /** Loads the script of the page, which is not part of the first one. */
  readonly load: () => Promise<ComponentType<{ readonly market: string }>>
}

/** The pages in the order of the navigation. */
export const PAGES: readonly Page[] = [
  {
    view: 'markets',
    label: 'Markets',
    icon: 'markets',
    key: 'm',
    load: async () => (await import('../markets/MarketsView.tsx')).MarketsView,
  },
  {
    view: 'trade',
    label: 'Trade',
    icon: 'trade',
    key: 't',
    load: async () => (await import('../markets/TradeView.tsx')).TradeView,
  },
  {
    view: 'portfolio',
    label: 'Portfolio',
    icon: 'portfolio',
    key: 'p',
    load: async () => (await import('../portfolio/PortfolioView.tsx')).PortfolioView,
  },
  {
    view: 'history',
    label: 'History',
    icon: 'history',
    key: 'h',
    load: async () => (await import('../history/HistoryView.tsx')).HistoryView,
  },
  {
    view: 'agents',
    label: 'Agents',
    icon: 'agents',
    key: 'a',
    load: async () => (await import('../agents/AgentsView.tsx')).AgentsView,
  },
  {
    view: 'system',
    label: 'System',
    icon: 'system',
    key: 's',
    load: async () => (await import('../system/SystemView.tsx')).SystemView,
  },
]

/** Returns the page of a view; undefined for an address that has none. */
export function pageOf(view: ViewName): Page | undefined {
  return PAGES.find((page) => page.view === view)
}

/** Returns the title of the browser's tab. */
export function titleOf(route: Route): string {
  if (route.view === 'trade') return `${route.market} · Bezel`
  return `${pageOf(route.view)?.label ?? 'Page not found'} · Bezel`
}
