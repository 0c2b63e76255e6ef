import type { BookEvent, CandlesEvent, PricesEvent, TradesEvent } from './streamEvents.ts'

/** What a channel of latest values tells. */
export type LatestEvent = PricesEvent | BookEvent | TradesEvent | CandlesEvent

/** As many as a snapshot of the service has. */
const MAX_LISTED = 100

/** Two events of one topic as one that says the same: what waits for a slow reader never grows. `later` may be a snapshot, which stands for itself. */
export function conflate<Event extends LatestEvent>(earlier: Event, later: Event): Event
export function conflate(earlier: LatestEvent, later: LatestEvent): LatestEvent {
  if (later.snapshot || earlier.channel !== later.channel) return later
  switch (later.channel) {
    case 'prices':
      return conflatePrices(earlier as PricesEvent, later)
    case 'book':
      return { ...later, snapshot: earlier.snapshot }
    case 'trades':
      return conflateTrades(earlier as TradesEvent, later)
    case 'candles':
      return conflateCandles(earlier as CandlesEvent, later)
  }
}

function conflatePrices(earlier: PricesEvent, later: PricesEvent): PricesEvent {
  const byMarket = new Map([...earlier.data, ...later.data].map((price) => [price.market, price]))
  return { ...later, snapshot: earlier.snapshot, data: [...byMarket.values()] }
}

/** Where older ones fall out the rest is a snapshot: nobody can take it for all there was. */
function conflateTrades(earlier: TradesEvent, later: TradesEvent): TradesEvent {
  const data = [...later.data, ...earlier.data]
  return { ...later, snapshot: earlier.snapshot || data.length > MAX_LISTED, data: data.slice(0, MAX_LISTED) }
}

function conflateCandles(earlier: CandlesEvent, later: CandlesEvent): CandlesEvent {
  const byTime = new Map([...earlier.data, ...later.data].map((candle) => [candle.time, candle]))
  const data = [...byTime.values()].toSorted((a, b) => a.time - b.time)
  return { ...later, snapshot: earlier.snapshot || data.length > MAX_LISTED, data: data.slice(-MAX_LISTED) }
}
