import { computed, signal, type ReadonlySignal } from '@preact/signals'
import { h, type ComponentChildren } from 'preact'

/** A page of the console. `query` has the parameters behind the path, for instance `order` and `interval`. */
export type Route = (
  | { readonly view: 'markets' }
  | { readonly view: 'trade'; /** Symbol of the market, `BTC/USD`. */ readonly market: string }
  | { readonly view: 'portfolio'; readonly tab?: string }
  | { readonly view: 'agents'; readonly tab?: string }
  | { readonly view: 'history'; readonly tab?: string }
  | { readonly view: 'system' }
  | { readonly view: 'missing'; readonly path: string }
) & { readonly query: Readonly<Record<string, string>> }

export type ViewName = Route['view']

/** Returns the route of a path with its query: `/trade/BTC-USD?order=12`. */
export function parseRoute(address: string): Route {
  const { pathname, searchParams } = urlOf(address)
  const query = Object.fromEntries(searchParams)
  const [view = '', part, ...more] = pathname.split('/').slice(1).map(decoded)
  const missing: Route = { view: 'missing', path: pathname, query }
  if (more.some((text) => text !== '')) return missing
  const tab = part === undefined || part === '' ? {} : { tab: part }
  switch (view) {
    case '':
    case 'markets':
      return part === undefined || part === '' ? { view: 'markets', query } : missing
    case 'trade':
      return part === undefined || part === '' ? { view: 'markets', query } : { view, market: symbolOf(part), query }
    case 'portfolio':
    case 'agents':
    case 'history':
      return { view, ...tab, query }
    case 'system':
      return { view, query }
    default:
      return missing
  }
}

/** Returns the path of a market's page: `/trade/BTC-USD`. */
export function tradePath(market: string): string {
  return `/trade/${encodeURIComponent(market.replace('/', '-'))}`
}

/** Returns a path with further query parameters; an empty one is taken out. */
export function withQuery(path: string, changes: Readonly<Record<string, string | null | undefined>>): string {
  const { pathname, searchParams } = urlOf(path)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === null || value === '') searchParams.delete(name)
    else searchParams.set(name, value)
  }
  const query = searchParams.toString()
  return query === '' ? pathname : `${pathname}?${query}`
}

const address = signal(currentAddress())

/** The page that is shown. */
export const route: ReadonlySignal<Route> = computed(() => parseRoute(address.value))

/**
 * Shows another page. The chain of the present address is kept unless the new one names a chain. `replace` puts no
 * entry into the history of the browser, as for a filter or an interval.
 */
export function navigate(path: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  const target = hrefOf(path)
  if (target === address.value) return
  if (typeof history !== 'undefined') {
    if (replace) history.replaceState(null, '', target)
    else history.pushState(null, '', target)
  }
  address.value = target
}

/** Changes query parameters of the present page, without an entry in the history. */
export function setQuery(changes: Readonly<Record<string, string | null | undefined>>): void {
  const target = withQuery(address.value, changes)
  if (target === address.value) return
  if (typeof history !== 'undefined') history.replaceState(null, '', target)
  address.value = target
}

/** Returns the address behind a link, with the chain of the present one. */
export function hrefOf(path: string): string {
  const { query } = route.value
  return query['chain'] === undefined || parseRoute(path).query['chain'] !== undefined
    ? path
    : withQuery(path, { chain: query['chain'] })
}

export interface LinkProps {
  /** A path of the console: `/portfolio/orders`. */
  readonly to: string
  readonly class?: string | undefined
  /** True for the page that is shown, as `aria-current`. */
  readonly current?: boolean | undefined
  readonly label?: string | undefined
  readonly testId?: string | undefined
  readonly guide?: string | undefined
  readonly onClick?: (() => void) | undefined
  readonly children?: ComponentChildren
}

/** A link to a page of the console. A click with a modifier key opens a tab, as with any link. */
export function Link({ to, class: className, current, label, testId, guide, onClick, children }: LinkProps) {
  const follow = (event: MouseEvent) => {
    if (event.defaultPrevented || event.button !== 0) return
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    onClick?.()
    navigate(to)
  }
  const attributes = {
    href: hrefOf(to),
    class: className,
    'aria-current': current === true ? ('page' as const) : undefined,
    'aria-label': label,
    'data-testid': testId,
    'data-guide': guide,
    onClick: follow,
  }
  return h('a', attributes, children)
}

function currentAddress(): string {
  return typeof location === 'undefined' ? '/' : location.pathname + location.search
}

/** Reads a path. Two slashes at its beginning are part of it, and never name another host. */
function urlOf(path: string): URL {
  return new URL(`http://console.invalid${path.startsWith('/') ? '' : '/'}${path}`)
}

/** Decodes a part of a path. One that is not encoded well stands for itself. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Returns the symbol of a market in a path, where `-` stands for `/`: the last one, as in `A-B-USD`. */
function symbolOf(part: string): string {
  const text = part.toUpperCase()
  const dash = text.lastIndexOf('-')
  return text.includes('/') || dash === -1 ? text : `${text.slice(0, dash)}/${text.slice(dash + 1)}`
}

if (typeof addEventListener !== 'undefined' && typeof location !== 'undefined') {
  addEventListener('popstate', () => (address.value = currentAddress()))
}
