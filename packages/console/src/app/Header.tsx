import { activeChain, chooseChain } from '../data/chain.ts'
import { connection } from '../data/live.ts'
import { settings } from '../data/settings.ts'
import { Bell } from '../notices/Bell.tsx'
import { Button } from '../ui/Button.tsx'
import { Icon } from '../ui/Icon.tsx'
import { chooseTheme, theme } from '../ui/theme.ts'
import { AccountArea } from './AccountArea.tsx'
import { openKeyboardHelp } from './KeyboardHelp.tsx'
import { lastMarket } from './lastMarket.ts'
import { Link, route, setQuery, tradePath } from '../router/router.ts'
import { startState } from './start.ts'
import { PAGES } from './views.ts'

/** The bar at the top: where one can go, the chain, the connection, notices and the account. */
export function Header() {
  const isStarted = startState.value.kind === 'started'
  return (
    <header class="header">
      <Link to="/" class="header-logo" label="Bezel, all markets">
        <Logo />
        <span class="header-name">Bezel</span>
      </Link>
      <Navigation />
      <div class="header-end">
        <ChainSelect />
        <Connection />
        <ThemeToggle />
        <span class="header-keys">
          <Button kind="quiet" label="Keyboard shortcuts" testId="keyboard-help" onClick={openKeyboardHelp}>
            <Icon name="keyboard" />
          </Button>
        </span>
        {isStarted && <Bell />}
        <AccountArea />
      </div>
    </header>
  )
}

/** The pages. On a narrow screen the style sheet puts them at the bottom, within reach of the thumb. */
function Navigation() {
  const shown = route.value.view
  return (
    <nav class="nav" aria-label="Pages">
      {PAGES.map(({ view, label, icon }) => (
        <Link
          key={view}
          to={view === 'trade' ? tradePath(lastMarket.value) : view === 'markets' ? '/' : `/${view}`}
          class="nav-link"
          current={view === shown}
          testId={`nav-${view}`}
          guide={view === 'trade' ? 'nav-trade' : undefined}
        >
          <Icon name={icon} />
          <span class="nav-label">{label}</span>
        </Link>
      ))}
    </nav>
  )
}

/** The choice of the chain, where the service serves more than one. */
function ChainSelect() {
  const chains = settings.value?.chains ?? []
  if (chains.length < 2) return null
  return (
    <select
      class="input select header-chain"
      aria-label="Chain"
      data-testid="chain-select"
      value={activeChain.value}
      onChange={(event) => {
        if (chooseChain(event.currentTarget.value)) setQuery({ chain: event.currentTarget.value })
      }}
    >
      {chains.map(({ slug, name }) => (
        <option key={slug} value={slug}>
          {name}
        </option>
      ))}
    </select>
  )
}

const CONNECTION_WORDS = { live: 'Live', connecting: 'Connecting', down: 'Offline' } as const

/** The state of the live connection: a dot with a word, which says `Stale` when data stopped coming. */
function Connection() {
  const { state, staleSinceMs } = connection.value
  const isStale = staleSinceMs !== null
  const word = isStale && state === 'live' ? 'Stale' : CONNECTION_WORDS[state]
  const look = isStale && state === 'live' ? 'connecting' : state
  return (
    <span
      class={`connection connection-${look}`}
      role="status"
      data-testid="connection"
      data-state={state}
      title={word}
    >
      <span class="connection-dot" aria-hidden="true" />
      <span class="connection-word">{word}</span>
    </span>
  )
}

function ThemeToggle() {
  const isDark = theme.value === 'dark'
  return (
    <Button
      kind="quiet"
      label={isDark ? 'Use the light theme' : 'Use the dark theme'}
      testId="theme-toggle"
      onClick={() => chooseTheme(isDark ? 'light' : 'dark')}
    >
      <Icon name={isDark ? 'sun' : 'moon'} />
    </Button>
  )
}

function Logo() {
  return (
    <svg width="20" height="20" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path d="M10 1l7.8 4.5v9L10 19l-7.8-4.5v-9z" fill="none" stroke="currentColor" stroke-width="2" />
      <path d="M6 12l3-3 2.4 2L14 7.6" fill="none" stroke="currentColor" stroke-width="1.8" />
    </svg>
  )
}
