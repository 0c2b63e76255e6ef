import './app.css'
import './header.css'
import { Guide } from '../guide/Guide.tsx'
import { Toasts } from '../ui/Toast.tsx'
import { Banners } from './Banners.tsx'
import { ErrorBoundary } from './ErrorBoundary.tsx'
import { Header } from './Header.tsx'
import { KeyboardHelp, useShortcuts } from './KeyboardHelp.tsx'
import { navigate } from '../router/router.ts'
import { startState } from './start.ts'
import { ViewOutlet } from './ViewOutlet.tsx'

/** The whole page. */
export function App() {
  return (
    <ErrorBoundary where="The console">
      <Shell />
    </ErrorBoundary>
  )
}

/** The frame around every view. */
function Shell() {
  useShortcuts()
  return (
    <div class="shell">
      <a class="skip-link" href="#content" onClick={skipToContent}>
        Skip to the content
      </a>
      <Header />
      <Banners />
      <ViewOutlet />
      <Toasts navigate={navigate} />
      <KeyboardHelp />
      {startState.value.kind === 'started' && <Guide />}
    </div>
  )
}

/** Moves the focus without putting a fragment into the address. */
function skipToContent(event: MouseEvent): void {
  event.preventDefault()
  document.querySelector<HTMLElement>('#content')?.focus()
}
