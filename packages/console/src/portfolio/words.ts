import { ORDER_REASON_TEXTS } from '@bezel/protocol/wire'
import { decimal, type FillAction, type Order, type OrderStatus, type PendingUpdate } from '@bezel/sdk'
import { formatAmount } from '../ground/format.ts'

/** Importance of a text, which also chooses its colour. */
export type Tone = 'good' | 'bad' | 'warn' | 'info' | 'none'

/** A state in a word, with its tone. */
export interface StateWord {
  readonly word: string
  readonly tone: Tone
}

const STATUS_WORDS: Readonly<Record<OrderStatus, StateWord>> = {
  prepared: { word: 'Not sent yet', tone: 'info' },
  pending: { word: 'Waiting for the oracle', tone: 'info' },
  open: { word: 'Resting', tone: 'none' },
  filled: { word: 'Filled', tone: 'good' },
  rejected: { word: 'Rejected', tone: 'bad' },
  timed_out: { word: 'Timed out', tone: 'warn' },
  canceled: { word: 'Cancelled', tone: 'none' },
  expired: { word: 'Expired', tone: 'none' },
}

/** Returns the state of an order in words. A prepared order whose transaction is known waits for its block. */
export function statusWord({ status, txHash, type }: Pick<Order, 'status' | 'txHash' | 'type'>): StateWord {
  const isSent = status === 'prepared' && txHash !== null
  const isPlacing = status === 'pending' && type !== 'market'
  return isSent || isPlacing ? { word: 'Waiting for the block', tone: 'info' } : STATUS_WORDS[status]
}

const ACTION_WORDS: Readonly<Record<FillAction, StateWord>> = {
  TradeOpenedMarket: { word: 'Opened', tone: 'none' },
  TradeOpenedLimit: { word: 'Opened by a resting order', tone: 'none' },
  TradeClosedMarket: { word: 'Closed', tone: 'none' },
  TradeClosedLIQ: { word: 'Liquidated', tone: 'bad' },
  TradeClosedSL: { word: 'Stop loss', tone: 'warn' },
  TradeClosedTP: { word: 'Take profit', tone: 'good' },
  TradeLeverageUpdate: { word: 'Leverage changed', tone: 'none' },
  TradePosSizeIncrease: { word: 'Enlarged', tone: 'none' },
  TradePosSizeDecrease: { word: 'Closed in part', tone: 'none' },
  TradeOpenRefused: { word: 'Order refused', tone: 'warn' },
  TradeUpdateRefused: { word: 'Change refused', tone: 'warn' },
}

/** Returns the kind of an entry of the history in words. */
export function actionWord(action: FillAction): StateWord {
  return ACTION_WORDS[action]
}

/** Returns the kind of an order in a word. */
export function kindWord({ type, reduceOnly }: Pick<Order, 'type' | 'reduceOnly'>): string {
  if (reduceOnly) return 'Close'
  return { market: 'Market', limit: 'Limit', stop: 'Stop' }[type]
}

/** Returns the side of the position that an order opens or closes. A close itself trades the other side. */
export function positionSide({ side, reduceOnly }: Pick<Order, 'side' | 'reduceOnly'>): Order['side'] {
  if (!reduceOnly) return side
  return side === 'long' ? 'short' : 'long'
}

/** Returns why the contracts refused an order, as a sentence with the next step; null when they did not. */
export function refusalOf({ reason }: Pick<Order, 'reason'>): { cause: string; remedy: string } | null {
  if (reason === null || reason === 'NONE') return null
  const { cause, remedy } = ORDER_REASON_TEXTS[reason]
  return { cause: sentence(cause), remedy: sentence(remedy.replaceAll('`', '')) }
}

/** Returns a change that waits for the oracle in words: `Leverage to 5×, 300 USDC taken from the wallet`. */
export function pendingWords({ kind, leverage, collateralDelta }: PendingUpdate, symbol: string): string {
  const taken = collateralDelta.replace('-', '')
  const amount = formatAmount(taken, { symbol })
  const moved = collateralDelta.startsWith('-')
    ? `${amount} to come back to the wallet`
    : `${amount} taken from the wallet`
  const change = {
    leverage: `Leverage to ${leverage}×`,
    collateral: `Collateral, leverage to ${leverage}×`,
    increase: `Larger size at ${leverage}×`,
    withdrawal: 'Withdrawal of profit',
    other: 'Settlement of fees',
  }[kind]
  return decimal.compare(taken, '0') === 0 ? change : `${change}, ${moved}`
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}
