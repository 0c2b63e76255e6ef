import type { LineKind } from './priceLines.ts'

/** The colours of the chart, all from custom properties of the theme. */
export interface ChartColors {
  readonly background: string
  readonly text: string
  readonly grid: string
  readonly border: string
  readonly crosshair: string
  readonly up: string
  readonly down: string
  readonly lines: Readonly<Record<LineKind, string>>
}

/** Reads the colours as they are now. Custom properties of the chart come first (`chart.css`). */
export function readColors(element: Element): ChartColors {
  const style = getComputedStyle(element)
  const color = (name: string): string => style.getPropertyValue(`--chart-${name}`).trim() || '#888888'
  return {
    background: color('background'),
    text: color('text'),
    grid: color('grid'),
    border: color('border'),
    crosshair: color('crosshair'),
    up: color('up'),
    down: color('down'),
    lines: {
      entry: color('entry'),
      tp: color('tp'),
      sl: color('sl'),
      liquidation: color('liquidation'),
      order: color('order'),
    },
  }
}

/** Calls a function when the theme changes: by its switch, or with the system. Returns what ends it. */
export function onThemeChange(changed: () => void): () => void {
  const observer = new MutationObserver(changed)
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme', 'class'] })
  const system = matchMedia('(prefers-color-scheme: dark)')
  system.addEventListener('change', changed)
  return () => {
    observer.disconnect()
    system.removeEventListener('change', changed)
  }
}
