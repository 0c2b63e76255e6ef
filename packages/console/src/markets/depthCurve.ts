import type { BookLevel, OrderBook } from '@bezel/protocol/wire'

/** A point of the depth curve: up to `price`, `cumulativeUsd` can be traded. Numbers, because they become pixels. */
export interface DepthPoint {
  readonly price: number
  readonly cumulativeUsd: number
}

/** A size of picture in pixels. */
export interface PictureSize {
  readonly width: number
  readonly height: number
}

/** The picture of a book: two stepped areas, and the points that they are made of with their places. */
export interface DepthPicture {
  readonly bidsPath: string
  readonly asksPath: string
  /** Where the mark is, from the left. */
  readonly markX: number
  /** The points of both sides from the lowest price to the highest. */
  readonly marks: readonly DepthMark[]
}

/** A level of the book in the picture. */
export interface DepthMark {
  readonly side: 'bid' | 'ask'
  readonly level: BookLevel
  readonly x: number
  readonly y: number
}

/** The use that a book is good for: `none` has no levels, `flat` one level a side, whose price no size moves. */
export type DepthKind = 'none' | 'flat' | 'curve'

/** Share of the height that the highest step takes. */
const HEADROOM = 0.92

/** Returns the kind of a book. */
export function depthKind({ bids, asks }: Pick<OrderBook, 'bids' | 'asks'>): DepthKind {
  const levels = Math.max(bids.length, asks.length)
  if (levels === 0) return 'none'
  return levels === 1 ? 'flat' : 'curve'
}

/** Draws a book. The mark is in the middle, so that both sides have the same scale of prices and amounts. */
export function drawDepth({ bids, asks, markPrice }: OrderBook, { width, height }: PictureSize): DepthPicture {
  const mark = Number(markPrice)
  const points = [...bids, ...asks].map(pointOf)
  const reach = Math.max(...points.map(({ price }) => Math.abs(price - mark)), mark * 1e-6) * 1.02
  const top = Math.max(...points.map(({ cumulativeUsd }) => cumulativeUsd), 1)
  const x = (price: number): number => round(((price - mark + reach) / (2 * reach)) * width)
  const y = (usd: number): number => round(height - (usd / top) * height * HEADROOM)
  const place = (side: 'bid' | 'ask') => (level: BookLevel) => {
    const { price, cumulativeUsd } = pointOf(level)
    return { side, level, x: x(price), y: y(cumulativeUsd) }
  }
  const bidMarks = bids.map(place('bid'))
  const askMarks = asks.map(place('ask'))
  return {
    bidsPath: steppedArea(bidMarks, height, 0),
    asksPath: steppedArea(askMarks, height, width),
    markX: round(width / 2),
    marks: [...bidMarks.toReversed(), ...askMarks],
  }
}

/** Returns the index of the point nearest to a place; -1 when there is none. */
export function nearestMark(marks: readonly DepthMark[], x: number): number {
  let nearest = -1
  for (const [index, mark] of marks.entries()) {
    const best = marks[nearest]
    if (best === undefined || Math.abs(mark.x - x) < Math.abs(best.x - x)) nearest = index
  }
  return nearest
}

/** Returns how far a level is from the mark, as a fraction of the mark: negative below it. */
export function distanceOf({ price }: Pick<BookLevel, 'price'>, markPrice: string): string {
  const mark = Number(markPrice)
  return mark === 0 ? '0' : ((Number(price) - mark) / mark).toFixed(8)
}

/**
 * Returns an area below steps that lead away from the mark: at each price the depth rises to what can be traded up to
 * the next one. The last step reaches to the edge of the picture.
 */
function steppedArea(marks: readonly DepthMark[], height: number, edgeX: number): string {
  const [first] = marks
  if (first === undefined) return ''
  const steps = marks.map(({ x, y }) => `H${x}V${y}`).join('')
  return `M${first.x} ${height}${steps}H${edgeX}V${height}Z`
}

function pointOf({ price, cumulativeUsd }: BookLevel): DepthPoint {
  return { price: Number(price), cumulativeUsd: Number(cumulativeUsd) }
}

const round = (pixels: number): number => Math.round(pixels * 10) / 10
