import { effect } from '@preact/signals'
import { render } from 'preact'
import { route } from '../router/router.ts'
import { PortfolioDialogs } from './PortfolioDialogs.tsx'
import { askFlatten, closeDialog, openedDialog, showTimeline } from './dialogs.ts'
import { interruptedFlatten } from './flattenRun.ts'

let isMounted = false

/**
 * Mounts the dialogs of the portfolio beside the page, once, so that every view can open them. Follows the deep link
 * `?order=12`: it opens the timeline of that order, and closing the timeline takes it out of the address again. Shows a
 * flatten that a reload has interrupted.
 */
export function mountDialogs(): void {
  if (isMounted) return
  isMounted = true
  const host = document.createElement('div')
  host.className = 'portfolio-dialogs'
  document.body.append(host)
  render(<PortfolioDialogs />, host)
  effect(() => {
    const orderId = route.value.query['order']
    const dialog = openedDialog.peek()
    if (orderId !== undefined && /^\d+$/.test(orderId)) showTimeline(orderId)
    else if (dialog?.kind === 'timeline') closeDialog()
  })
  effect(() => {
    const flatten = interruptedFlatten.value
    if (flatten !== null && openedDialog.peek() === null) askFlatten(flatten.options.market)
  })
}
