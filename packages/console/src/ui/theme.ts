import { computed, signal, type ReadonlySignal } from '@preact/signals'

/** A look of the page. */
export type Theme = 'dark' | 'light'

/** Choice of the user; `system` follows the setting of the machine. */
export type ThemeChoice = Theme | 'system'

/** Key in localStorage. */
const STORED = 'bezel.theme'

const choice = signal<ThemeChoice>(storedChoice())
const isSystemLight = signal(false)

/** The theme that is shown. Charts read their colours again when it changes, since a canvas knows no style sheet. */
export const theme: ReadonlySignal<Theme> = computed(() =>
  choice.value === 'system' ? (isSystemLight.value ? 'light' : 'dark') : choice.value,
)

/** Chooses a theme and keeps the choice for the next visit. */
export function chooseTheme(chosen: ThemeChoice): void {
  choice.value = chosen
  try {
    if (chosen === 'system') localStorage.removeItem(STORED)
    else localStorage.setItem(STORED, chosen)
  } catch {
    // Storage may be forbidden. The choice then lasts until the page is closed.
  }
}

/** Returns the value of a custom property of the theme that is shown, for instance `--up`. */
export function themeColor(name: `--${string}`): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim()
}

/** Puts the theme on the page now and whenever it changes. Call it once, before the first paint. */
export function applyTheme(): void {
  const query = matchMedia('(prefers-color-scheme: light)')
  isSystemLight.value = query.matches
  query.addEventListener('change', () => (isSystemLight.value = query.matches))
  // Another tab may have changed the choice.
  addEventListener('storage', ({ key }) => {
    if (key === STORED) choice.value = storedChoice()
  })
  // Subscribing at once puts the attribute there before any component draws with its colours.
  theme.subscribe((shown) => document.documentElement.setAttribute('data-theme', shown))
}

function storedChoice(): ThemeChoice {
  try {
    const stored = localStorage.getItem(STORED)
    return stored === 'dark' || stored === 'light' ? stored : 'system'
  } catch {
    return 'system'
  }
}
