import type { Order, Position } from '@bezel/protocol/wire'

/** The thing that a line in the chart stands for. */
export type LineKind = 'entry' | 'tp' | 'sl' | 'liquidation' | 'order'

/** A line at a price of the own account. */
export interface PriceMark {
  /** Key that stays with the line while its price changes. */
  readonly id: string
  readonly kind: LineKind
  readonly price: string
  readonly title: string
}

/** A trigger of a position that has a handle: one that can be dragged, or a place to add one. */
export interface TriggerMark {
  readonly id: string
  readonly positionId: string
  readonly trigger: 'tp' | 'sl'
  readonly side: Position['side']
  /** Price of the trigger; `null` where the position has none yet. */
  readonly price: string | null
  readonly entryPrice: string
  /** Number that tells positions of one market apart, from 1 on; `null` when there is only one. */
  readonly ordinal: number | null
}

/** Returns the lines of positions and resting orders of a market. */
export function priceMarks(
  market: string,
  positions: readonly Position[],
  orders: readonly Order[],
): readonly PriceMark[] {
  const own = positions.filter((position) => position.market === market)
  const lines = own.flatMap((position, index) => linesOfPosition(position, suffixOf(index, own.length)))
  return [...lines, ...orders.filter((order) => order.market === market).flatMap(linesOfOrder)]
}

/** Returns the triggers of the positions of a market, those that are missing too. */
export function triggerMarks(market: string, positions: readonly Position[]): readonly TriggerMark[] {
  const own = positions.filter((position) => position.market === market)
  return own.flatMap(({ id, side, entryPrice, tp, sl }, index) =>
    (['tp', 'sl'] as const).map((trigger) => ({
      id: `${trigger}-${id}`,
      positionId: id,
      trigger,
      side,
      price: none(trigger === 'tp' ? tp : sl),
      entryPrice,
      ordinal: own.length > 1 ? index + 1 : null,
    })),
  )
}

function linesOfPosition(position: Position, suffix: string): readonly PriceMark[] {
  const { id, side, entryPrice, tp, sl, liquidationPrice } = position
  const lines: readonly [LineKind, string, string][] = [
    ['entry', entryPrice, side === 'long' ? 'Long' : 'Short'],
    ['tp', tp, 'TP'],
    ['sl', sl, 'SL'],
    ['liquidation', liquidationPrice, 'Liq.'],
  ]
  return lines
    .filter(([, price]) => none(price) !== null)
    .map(([kind, price, title]) => ({ id: `${kind}-${id}`, kind, price, title: title + suffix }))
}

/** Returns the line of an order that rests on the chain; others have no place in the chart. */
function linesOfOrder({ id, status, type, side, price }: Order): readonly PriceMark[] {
  if (status !== 'open' || price === null || type === 'market') return []
  return [{ id: `order-${id}`, kind: 'order', price, title: `${type === 'limit' ? 'Limit' : 'Stop'} ${side}` }]
}

/** Returns what tells the lines of several positions apart. */
function suffixOf(index: number, count: number): string {
  return count > 1 ? ` ${index + 1}` : ''
}

/** Returns a price; `null` for the "0" that stands for none. */
function none(price: string): string | null {
  return Number(price) > 0 ? price : null
}
