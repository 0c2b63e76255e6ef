import type { AccountEvent, LogChange, Order, Position } from '@bezel/sdk'
import type { PageShape } from '../output/formatTable.ts'
import {
  pendingWords,
  paintStatus,
  shortAmount,
  shortLeverage,
  shortPrice,
  shortSize,
  shortTime,
  wrapWords,
  type Style,
  screenText,
} from '../output/text.ts'

/** An event of the account's log, from a page or from the stream. */
export type ToldEvent = AccountEvent | LogChange

const SEQ_WIDTH = '#1234'.length

const INDENT = '  '

/**
 * Returns an event as lines for people, each no wider than the page. Nothing is left out. `timeOf` formats its time;
 * the default is for a log of today.
 */
export function eventLines(event: ToldEvent, { width, style }: PageShape, timeOf = shortTime): string[] {
  const { seq, timestamp, reverted } = event
  const again = reverted ? ' (the chain was reorganised)' : ''
  const text = `${timeOf(timestamp)} ${`#${seq}`.padEnd(SEQ_WIDTH)} ${screenText(wordsOf(event))}${again}`
  const room = (width ?? Number.POSITIVE_INFINITY) - INDENT.length
  const paint = painterOf(event, style)
  return wrapWords(text, room).map((line, place) => paint(place === 0 ? line : INDENT + line))
}

function painterOf(event: ToldEvent, style: Style): (text: string) => string {
  if (event.reverted) return style.warn
  return event.channel === 'orders' || event.channel === 'fills' ? paintStatus(event.data, style) : (text) => text
}

function wordsOf(event: ToldEvent): string {
  switch (event.channel) {
    case 'orders':
      return orderWords(event.data)
    case 'fills':
      return fillWords(event.data)
    case 'positions':
      return event.data.length === 0 ? 'positions: none open' : `positions: ${event.data.map(positionWords).join('; ')}`
    case 'account':
      return `balances: ${event.data.balances.map(({ collateral, balance }) => `${shortAmount(balance)} ${collateral}`).join(', ')}`
  }
}

/** Returns an order in a few words: `order 12 open: BTC/USD long 0.02 limit at 60000, sl 57000`. */
function orderWords({ id, market, side, type, status, fill, reason, reduceOnly, ...order }: Order): string {
  const price = fill?.price ?? order.price
  const why = reason === null ? '' : ` (${reason})`
  const kind = reduceOnly ? 'close' : type
  const at = price === null ? '' : ` at ${shortPrice(price)}`
  const size = shortSize(fill?.size ?? order.size)
  return `order ${id} ${status}${why}: ${market} ${side} ${size} ${kind}${at}${stopWords(order)}`
}

function fillWords(order: Order): string {
  const { id, market, side, collateral, fill } = order
  // A fill that the chain took back has none.
  if (fill === null) return orderWords(order)
  const fee = `fee ${shortAmount(fill.feeCollateral)} ${collateral}`
  return `fill of order ${id}: ${market} ${side} ${shortSize(fill.size)} at ${shortPrice(fill.price)}, ${fee}`
}

/** Returns a position with everything that a change of it moves: `3 BTC/USD long 0.02 at 10x, tp 70000, sl 57000`. */
function positionWords({ id, market, side, size, leverage, pendingUpdate, collateralSymbol, ...of }: Position): string {
  const pending = pendingUpdate === null ? '' : ` (${pendingWords(pendingUpdate, collateralSymbol)})`
  return `${id} ${market} ${side} ${shortSize(size)} at ${shortLeverage(leverage)}${stopWords(of)}${pending}`
}

/** Returns the stops that are set. One that is not set is null in an order, and 0 in a position. */
function stopWords(stops: { readonly tp: string | null; readonly sl: string | null }): string {
  const told = (['tp', 'sl'] as const).filter((name) => stops[name] !== null && stops[name] !== '0')
  return told.map((name) => `, ${name} ${shortPrice(stops[name]!)}`).join('')
}
