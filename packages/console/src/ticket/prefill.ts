import { signal } from '@preact/signals'
import type { Side } from '@bezel/sdk'

/** Values that another part of the page puts into the ticket, for instance a price that was clicked in the depth. */
export interface Prefill {
  /** Market that the values are for. A ticket of another market leaves them alone. */
  readonly market?: string
  readonly side?: Side
  /** Price in the quote currency. It makes a market order a limit order. */
  readonly price?: string
  /** Size in base units. */
  readonly size?: string
}

/** The values that the ticket takes over next; null once it has. */
export const prefill = signal<Prefill | null>(null)
