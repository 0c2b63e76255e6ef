import { useSignal, type ReadonlySignal, type Signal } from '@preact/signals'
import type { OrderBook } from '@bezel/protocol/wire'
import { roundPrice } from '@bezel/sdk'
import { marketOf } from '../data/markets.ts'
import { useBook } from '../data/useTopic.ts'
import { formatPercent, formatPrice } from '../ground/format.ts'
import { prefill } from '../ticket/prefill.ts'
import { Skeleton } from '../ui/Skeleton.tsx'
import { depthKind, distanceOf, drawDepth, nearestMark, type DepthMark, type DepthPicture } from './depthCurve.ts'
import { compactUsd } from './figures.ts'
import { moveInList } from './marketList.ts'

const SIZE = { width: 300, height: 120 }

/** The depth of a market as a picture: what can be bought and sold up to which price. */
export function DepthPanel({ symbol }: { readonly symbol: string }) {
  const book = useBook(symbol)
  return (
    <section class="depth panel" data-testid="depth" aria-labelledby="depth-title">
      <h2 id="depth-title" class="book-title">
        Depth
      </h2>
      <DepthBody symbol={symbol} book={book} />
    </section>
  )
}

function DepthBody({ symbol, book }: { readonly symbol: string; readonly book: ReadonlySignal<OrderBook | null> }) {
  const chosen = useSignal<number | null>(null)
  const shown = book.value
  if (shown === null) return <Skeleton height="168px" />
  const kind = depthKind(shown)
  if (kind === 'none') {
    return <p class="book-none depth-none">There is no depth while the market is closed.</p>
  }
  if (kind === 'flat') return <FlatDepth book={shown} />
  return <DepthCurve symbol={symbol} book={shown} chosen={chosen} />
}

/** The two prices of a market whose price no size moves. */
function FlatDepth({ book: { bids, asks } }: { readonly book: OrderBook }) {
  return (
    <div class="depth-none">
      <p>Size does not move the price of this market.</p>
      <dl class="pairs">
        <dt>Sell at</dt>
        <dd class="tone-down">{bids[0] === undefined ? '–' : formatPrice(bids[0].price)}</dd>
        <dt>Buy at</dt>
        <dd class="tone-up">{asks[0] === undefined ? '–' : formatPrice(asks[0].price)}</dd>
      </dl>
    </div>
  )
}

interface DepthCurveProps {
  readonly symbol: string
  readonly book: OrderBook
  /** The level that pointer or keys have chosen; `null` for none. */
  readonly chosen: Signal<number | null>
}

/** The curve. Pointer and arrow keys choose a level; a click or Enter takes its price into the ticket. */
function DepthCurve({ symbol, book, chosen }: DepthCurveProps) {
  const picture = drawDepth(book, SIZE)
  const index = chosen.value === null ? null : Math.min(chosen.value, picture.marks.length - 1)
  const mark = index === null ? undefined : picture.marks[index]
  const onPointerMove = (event: PointerEvent & { readonly currentTarget: Element }) => {
    const { left, width } = event.currentTarget.getBoundingClientRect()
    chosen.value = nearestMark(picture.marks, ((event.clientX - left) / width) * SIZE.width)
  }
  const take = () => {
    const market = marketOf(symbol)
    if (mark !== undefined && market !== undefined) {
      prefill.value = { market: symbol, price: roundPrice(market, mark.level.price) }
    }
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const next = moveInList(MOVES[event.key] ?? event.key, index ?? middleOf(picture), picture.marks.length)
    if (next !== null) chosen.value = next
    else if (event.key === 'Enter') take()
    else if (event.key === 'Escape' && index !== null) chosen.value = null
    else return
    event.preventDefault()
  }
  return (
    <>
      <div
        class="depth-picture"
        role="slider"
        tabIndex={0}
        aria-label="Level of the depth"
        aria-valuemin={1}
        aria-valuemax={picture.marks.length}
        aria-valuenow={(index ?? middleOf(picture)) + 1}
        aria-valuetext={mark === undefined ? summaryOf(book) : levelText(mark, book)}
        onPointerMove={onPointerMove}
        onPointerLeave={() => (chosen.value = null)}
        onClick={take}
        onKeyDown={onKeyDown}
        onBlur={() => (chosen.value = null)}
      >
        <DepthDrawing picture={picture} mark={mark} />
      </div>
      <p class="depth-text">{mark === undefined ? summaryOf(book) : levelText(mark, book)}</p>
    </>
  )
}

/** The keys of a slider that lies on its side. */
const MOVES: Readonly<Record<string, string>> = {
  ArrowRight: 'ArrowDown',
  ArrowUp: 'ArrowDown',
  ArrowLeft: 'ArrowUp',
  ArrowDown: 'ArrowUp',
}

function DepthDrawing({ picture, mark }: { readonly picture: DepthPicture; readonly mark: DepthMark | undefined }) {
  const { width, height } = SIZE
  return (
    <svg class="depth-svg" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
      <path class="depth-bids" d={picture.bidsPath} />
      <path class="depth-asks" d={picture.asksPath} />
      <line class="depth-mark" x1={picture.markX} x2={picture.markX} y1={0} y2={height} />
      {mark !== undefined && <line class="depth-chosen" x1={mark.x} x2={mark.x} y1={0} y2={height} />}
    </svg>
  )
}

/** Returns the index of the best bid, where the keys begin. */
function middleOf({ marks }: DepthPicture): number {
  return Math.max(marks.filter(({ side }) => side === 'bid').length - 1, 0)
}

/** Says what a level means: how much can be traded up to its price. */
function levelText({ side, level }: DepthMark, { markPrice }: OrderBook): string {
  const away = formatPercent(distanceOf(level, markPrice), { digits: 3, sign: true })
  const verb = side === 'ask' ? 'Buy' : 'Sell'
  return `${verb} ${compactUsd(level.cumulativeUsd)} from ${formatPrice(level.price)} on (${away})`
}

/** Describes the whole book in a sentence. */
function summaryOf({ bids, asks }: OrderBook): string {
  const [bid, ask] = [bids[0], asks[0]]
  const [lastBid, lastAsk] = [bids.at(-1), asks.at(-1)]
  if (bid === undefined || ask === undefined || lastBid === undefined || lastAsk === undefined) return ''
  return (
    `Sell at ${formatPrice(bid.price)}, ${compactUsd(lastBid.cumulativeUsd)} down to ${formatPrice(lastBid.price)}. ` +
    `Buy at ${formatPrice(ask.price)}, ${compactUsd(lastAsk.cumulativeUsd)} up to ${formatPrice(lastAsk.price)}.`
  )
}
