import { Fraction, HUNDRED_PERCENT, Price, Usd, parseDecimal, type OrderBook, type Side } from '@bezel/protocol/wire'

// The price impact of a size, from the public book. Each of its levels is a band of the contracts' depth, within which
// the price moves evenly; the best price includes the volume that was traded lately. The contracts charge
// f(e) + (f(e + S) - f(e)) / 2, where f is the average move of filling an amount, e the recent volume and S the size.

/** A band of depth: up to `cumulativeUsd` the price has moved by `endP`. */
interface Band {
  readonly cumulativeUsd: bigint
  readonly startP: bigint
  readonly endP: bigint
}

/** One side of a book, ready to ask for the impact of a size. Percentages are without sign. */
export interface DepthSide {
  /** f(e): the impact of the recent volume, which the smallest trade pays too. */
  readonly restingP: bigint
  /** e: the recent volume in USD. */
  readonly existingUsd: bigint
  readonly bands: readonly Band[]
}

const NO_DEPTH: DepthSide = { restingP: 0n, existingUsd: 0n, bands: [] }

/** Returns the side of a book that a new position trades against. `halfSpreadP` is half the spread, 1e10 a percent. */
export function depthSide(book: OrderBook | null, side: Side, halfSpreadP: bigint): DepthSide {
  const mark = priceOf(book?.markPrice ?? '0')
  const levels = (side === 'long' ? book?.asks : book?.bids) ?? []
  if (mark === 0n || levels.length < 2) return NO_DEPTH
  const moves = levels.map(({ price }) => distanceP(mark, priceOf(price)))
  const best = moves[0]!
  const starts = moves.map((move) => maxOf(move - best, 0n))
  const bands = levels.map(({ cumulativeUsd }, place): Band => {
    const startP = starts[place]!
    return { cumulativeUsd: usdOf(cumulativeUsd), startP, endP: starts[place + 1] ?? startP }
  })
  const whole = [...bands.slice(0, -1), extended(bands)]
  const restingP = maxOf(best - halfSpreadP, 0n)
  return { restingP, existingUsd: volumeAt(whole, restingP), bands: whole }
}

/** Returns the impact of a new position of a notional, in 1e10 a percent, without sign. */
export function volumeImpactP({ restingP, existingUsd, bands }: DepthSide, notionalUsd: bigint): bigint {
  if (bands.length === 0) return restingP
  const beyond = averageP(bands, existingUsd + notionalUsd)
  return beyond > restingP ? restingP + (beyond - restingP) / 2n : restingP
}

/** Returns the last band with an end: no level says where it ends, so it goes on as steeply as the band before. */
function extended(bands: readonly Band[]): Band {
  const last = bands.at(-1)!
  const before = bands.at(-2)
  if (before === undefined) return last
  const beforeUsd = before.cumulativeUsd - (bands.at(-3)?.cumulativeUsd ?? 0n)
  const ownUsd = last.cumulativeUsd - before.cumulativeUsd
  const slope = before.endP - before.startP
  return { ...last, endP: last.startP + (beforeUsd > 0n ? (slope * ownUsd) / beforeUsd : 0n) }
}

/** Returns the average move of filling an amount through the bands. The last band takes everything beyond the depth. */
function averageP(bands: readonly Band[], usd: bigint): bigint {
  if (usd === 0n) return 0n
  let remaining = usd
  let weighted = 0n
  let beforeUsd = 0n
  for (const [place, { cumulativeUsd, startP, endP }] of bands.entries()) {
    const available = cumulativeUsd - beforeUsd
    if (available <= 0n) continue
    const taken = place === bands.length - 1 || remaining < available ? remaining : available
    weighted += (startP + ((endP - startP) * taken) / available / 2n) * taken
    remaining -= taken
    beforeUsd = cumulativeUsd
    if (remaining === 0n) break
  }
  return weighted / usd
}

/** Bounds the search: the distance halves each time, from billions of dollars to less than a cent. */
const MAX_STEPS = 64

/** Returns the amount whose average move is the given one, by halving. */
function volumeAt(bands: readonly Band[], moveP: bigint): bigint {
  if (moveP === 0n) return 0n
  let [low, high] = [0n, 2n * (bands.at(-1)?.cumulativeUsd ?? 0n)]
  for (let step = 0; step < MAX_STEPS && high - low > 1n; step += 1) {
    const middle = (low + high) / 2n
    if (averageP(bands, middle) < moveP) low = middle
    else high = middle
  }
  return high
}

/** Returns the distance of a price from the mark, in 1e10 a percent, without sign and rounded. */
function distanceP(mark: bigint, price: bigint): bigint {
  const off = price > mark ? price - mark : mark - price
  return (off * HUNDRED_PERCENT + mark / 2n) / mark
}

function priceOf(text: string): bigint {
  const value = parseDecimal(text)
  return value === undefined ? 0n : Price.parseTruncated(value)
}

function usdOf(text: string): bigint {
  const value = parseDecimal(text)
  return value === undefined ? 0n : Usd.parseTruncated(value)
}

function maxOf(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}

/** Returns a fraction of one, such as the spread of a market, as 1e10 a percent. */
export function percentOfFraction(rate: string): bigint {
  const value = parseDecimal(rate)
  return value === undefined ? 0n : Fraction.parseTruncated(value)
}
