import { signal, type ReadonlySignal } from '@preact/signals'

/** A part of a position that a dialog changes. */
export type PositionEdit = 'tp' | 'sl' | 'leverage' | 'collateral' | 'close'

/** A dialog of the portfolio. One is open at a time. */
export type PortfolioDialog =
  | { readonly kind: 'position'; readonly positionId: string; readonly edit: PositionEdit; readonly price?: string }
  | { readonly kind: 'order'; readonly orderId: string }
  | { readonly kind: 'timeline'; readonly orderId: string }
  | { readonly kind: 'flatten'; readonly market?: string }

const shown = signal<PortfolioDialog | null>(null)

/** The dialog that is open; null while none is. */
export const openedDialog: ReadonlySignal<PortfolioDialog | null> = shown

let whenClosed: ((wasSent: boolean) => void) | null = null

function show(dialog: PortfolioDialog): void {
  settle(false)
  shown.value = dialog
}

function settle(wasSent: boolean): void {
  whenClosed?.(wasSent)
  whenClosed = null
}

/** Opens the dialog that changes a position. */
export function editPosition(positionId: string, edit: PositionEdit): void {
  show({ kind: 'position', positionId, edit })
}

/**
 * Opens the dialog that changes a take profit or stop loss with a price filled in, for instance after its line was
 * dragged on the chart. Resolves to true once the change was sent, and to false when the dialog was left.
 */
export function proposeTrigger(positionId: string, kind: 'tp' | 'sl', price: string): Promise<boolean> {
  show({ kind: 'position', positionId, edit: kind, price })
  return new Promise((resolve) => {
    whenClosed = resolve
  })
}

/** Opens the dialog that changes price, size and stops of a resting order. */
export function changeOrder(orderId: string): void {
  show({ kind: 'order', orderId })
}

/** Opens the timeline of an order. */
export function showTimeline(orderId: string): void {
  show({ kind: 'timeline', orderId })
}

/** Opens the confirmation of a flatten: of everything, or of one market. */
export function askFlatten(market?: string): void {
  show(market === undefined ? { kind: 'flatten' } : { kind: 'flatten', market })
}

/** Closes the open dialog. `wasSent` says that what it proposed was sent. */
export function closeDialog(wasSent = false): void {
  shown.value = null
  settle(wasSent)
}
