import { useEffect } from 'preact/hooks'
import { signal } from '@preact/signals'
import { Dialog } from '../ui/Dialog.tsx'
import { lastMarket } from './lastMarket.ts'
import { navigate, tradePath } from '../router/router.ts'
import { createShortcuts, isTyping, type Shortcut } from './shortcuts.ts'
import { PAGES } from './views.ts'

const isOpen = signal(false)

/** Opens the list of keys. */
export function openKeyboardHelp(): void {
  isOpen.value = true
}

/** The list of keys, opened by `?`. */
export function KeyboardHelp() {
  if (!isOpen.value) return null
  return (
    <Dialog title="Keyboard" onClose={() => (isOpen.value = false)} testId="keyboard-dialog">
      <dl class="keys">
        {PAGES.map(({ view, key, label }) => (
          <div key={view} class="keys-row">
            <dt>
              <kbd>g</kbd> <kbd>{key}</kbd>
            </dt>
            <dd>Open {label}</dd>
          </div>
        ))}
        <KeyRow name="/" words="Search the markets" />
        <KeyRow name="?" words="Show this list" />
        <KeyRow name="Esc" words="Close a dialog or a menu" />
        <KeyRow name="Tab" words="Go to the next control; with Shift to the one before" />
        <KeyRow name="← →" words="Move between tabs, sides and order types" />
      </dl>
    </Dialog>
  )
}

function KeyRow({ name, words }: { readonly name: string; readonly words: string }) {
  return (
    <div class="keys-row">
      <dt>
        <kbd>{name}</kbd>
      </dt>
      <dd>{words}</dd>
    </div>
  )
}

/** Listens for the keys as long as the page is shown. An open dialog has the keyboard for itself. */
export function useShortcuts(): void {
  useEffect(() => {
    const shortcuts = createShortcuts(PAGES.map(({ key }) => key))
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.defaultPrevented || isTyping(event) || document.querySelector('dialog[open]') !== null) return
      const found = shortcuts.press(event.key, event.timeStamp)
      if (found === null) return
      event.preventDefault()
      run(found)
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [])
}

function run(shortcut: Shortcut): void {
  if (shortcut.kind === 'help') openKeyboardHelp()
  if (shortcut.kind === 'search') focusSearch()
  const page = shortcut.kind === 'page' ? PAGES.find(({ key }) => key === shortcut.key) : undefined
  if (page === undefined) return
  navigate(page.view === 'trade' ? tradePath(lastMarket.peek()) : page.view === 'markets' ? '/' : `/${page.view}`)
}

/** Focuses the search of the view, or opens the markets, whose search is then a key away. */
function focusSearch(): void {
  const search = document.querySelector<HTMLElement>('[data-testid="market-search"]')
  if (search === null) navigate('/')
  else search.focus()
}
