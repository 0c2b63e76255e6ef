import { setQuery } from '../router/router.ts'
import { closeDialog } from './dialogs.ts'

/** Shows the timeline of an order and puts it into the address, so that a reload and a copied link show it too. */
export function openTimeline(orderId: string): void {
  setQuery({ order: orderId })
}

/** Closes the timeline of an order and takes it out of the address. */
export function closeTimeline(): void {
  closeDialog()
  setQuery({ order: null })
}
