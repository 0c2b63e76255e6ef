import type { OrderType, Side } from '@bezel/sdk'
import { readStored, writeStored, type KeyValueStore } from '../data/storage.ts'

/** A take profit or stop loss as it is typed: a price, or a gain or loss in percent of the collateral. */
export interface StopDraft {
  readonly by: 'price' | 'percent'
  /** Nothing for none. */
  readonly value: string
}

/** An order as it is typed. Every number is text, and may be half finished. */
export interface TicketDraft {
  readonly side: Side
  readonly type: OrderType
  /** Trigger of a limit or stop order. */
  readonly price: string
  /** The amount that was typed last; the other one follows from it and the leverage. */
  readonly amountBy: 'size' | 'collateral'
  /** Size in base units, or collateral in tokens. */
  readonly amount: string
  /** Symbol of the token that pays; null for the default of the market. */
  readonly collateral: string | null
  readonly leverage: string
  readonly tp: StopDraft
  readonly sl: StopDraft
  /** Percent. */
  readonly slippage: string
  readonly reduceOnly: boolean
}

const NO_STOP: StopDraft = { by: 'price', value: '' }

/** The ticket before anything was typed. */
export const EMPTY_DRAFT: TicketDraft = {
  side: 'long',
  type: 'market',
  price: '',
  amountBy: 'size',
  amount: '',
  collateral: null,
  leverage: '10',
  tp: NO_STOP,
  sl: NO_STOP,
  slippage: '1',
  reduceOnly: false,
}

/** Returns the draft after a change. A close at the market has neither trigger nor stops, so those go with it. */
export function changeDraft(draft: TicketDraft, change: Partial<TicketDraft>): TicketDraft {
  const next = { ...draft, ...change }
  if (change.type !== undefined && change.type !== 'market') return { ...next, reduceOnly: false }
  if (change.reduceOnly === true) return { ...next, type: 'market', tp: NO_STOP, sl: NO_STOP, amountBy: 'size' }
  return next
}

/** Returns the draft after an order was sent: the next of its kind, without the amount, price and stops of the last. */
export function nextDraft(draft: TicketDraft): TicketDraft {
  return { ...draft, amount: '', price: '', tp: { ...draft.tp, value: '' }, sl: { ...draft.sl, value: '' } }
}

/** Returns the key under which the draft of a market is kept in the tab. */
export function draftKey(chain: string, symbol: string): string {
  return `ticket ${chain} ${symbol}`
}

/** Reads the draft that a reload left behind. Anything else than a draft begins anew. */
export function readDraft(store: KeyValueStore, key: string): TicketDraft {
  return parseDraft(readStored(store, key))
}

/** Keeps a draft for a reload. */
export function writeDraft(store: KeyValueStore, key: string, draft: TicketDraft): void {
  writeStored(store, key, draft)
}

/** Returns a draft whose every field is of its type; a field that is not has its first value. */
export function parseDraft(found: unknown): TicketDraft {
  if (!isRecord(found)) return EMPTY_DRAFT
  const text = (name: 'price' | 'amount' | 'leverage' | 'slippage'): string => {
    const value = found[name]
    return typeof value === 'string' ? value : EMPTY_DRAFT[name]
  }
  return {
    side: found['side'] === 'short' ? 'short' : 'long',
    type: found['type'] === 'limit' || found['type'] === 'stop' ? found['type'] : 'market',
    price: text('price'),
    amountBy: found['amountBy'] === 'collateral' ? 'collateral' : 'size',
    amount: text('amount'),
    collateral: typeof found['collateral'] === 'string' ? found['collateral'] : null,
    leverage: text('leverage'),
    tp: parseStop(found['tp']),
    sl: parseStop(found['sl']),
    slippage: text('slippage'),
    reduceOnly: found['reduceOnly'] === true,
  }
}

function parseStop(found: unknown): StopDraft {
  if (!isRecord(found) || typeof found['value'] !== 'string') return NO_STOP
  return { by: found['by'] === 'percent' ? 'percent' : 'price', value: found['value'] }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
