import type { Candle, Decimal } from '@bezel/protocol'
import { coinsOf, pxText, type Coin } from '../coins.ts'
import type { FacadeReads } from '../facadeReads.ts'
import { pointed } from '../priceText.ts'
import { aggregate } from './aggregateCandles.ts'
import { FACADE_INTERVALS, isFacadeInterval, type FacadeInterval } from './candleIntervals.ts'
import { coinNameOf, requiredTimeOf, timeOf, type InfoRequest } from './infoRequest.ts'
import { MalformedInfoError } from './malformedInfo.ts'
import { readSourceCandles } from './readSourceCandles.ts'

/** A candle as clients of the facade read it. */
export interface FacadeCandle {
  readonly t: number
  readonly T: number
  readonly s: string
  readonly i: FacadeInterval
  readonly o: string
  readonly c: string
  readonly h: string
  readonly l: string
  readonly v: string
  readonly n: number
}

/** Mark prices over time, oldest first: at most the last 5,000 before `endTime`, however early `startTime` is. `null` for an unknown coin. */
export async function candleSnapshot({ req }: InfoRequest, reads: FacadeReads): Promise<unknown> {
  if (typeof req !== 'object' || req === null || Array.isArray(req)) throw new MalformedInfoError()
  const asked = req as InfoRequest
  const { interval } = asked
  if (!isFacadeInterval(interval)) throw new MalformedInfoError()
  const startMs = requiredTimeOf(asked, 'startTime')
  const endMs = Math.min(timeOf(asked, 'endTime') ?? reads.now(), reads.now())
  const coin = coinsOf(reads.markets()).named(coinNameOf(asked))
  if (coin === undefined) return null
  if (reads.quote(coin.pairIndex) === undefined || startMs > endMs) return []
  const source = await readSourceCandles(reads, coin.pairIndex, { interval, startMs, endMs })
  return aggregate(source, interval, startMs).map((candle) => facadeCandle(coin, interval, candle))
}

/** Nothing is known of volume. */
export function facadeCandle(coin: Coin, interval: FacadeInterval, candle: Candle): FacadeCandle {
  const px = (price: string): string => pointed(pxText(coin, price as Decimal))
  return {
    t: candle.time,
    T: FACADE_INTERVALS[interval].endOf(candle.time) - 1,
    s: coin.name,
    i: interval,
    o: px(candle.open),
    c: px(candle.close),
    h: px(candle.high),
    l: px(candle.low),
    v: '0.0',
    n: 0,
  }
}
