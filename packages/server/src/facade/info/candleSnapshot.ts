import type { Candle, Decimal } from '@bezel/protocol'
import { MAX_INFO_ROWS } from '../../access/weights.ts'
import { pxText, type Coin } from '../coins.ts'
import { pointed } from '../priceText.ts'
import {
  aggregate,
  FACADE_INTERVALS,
  isFacadeInterval,
  type FacadeInterval,
  readSourceCandles,
} from './facadeCandles.ts'
import {
  coinRequest,
  MalformedInfoError,
  requiredTimeOf,
  timeOf,
  type CoinRequest,
  type InfoBody,
} from './infoRequest.ts'
import { defineInfo } from './infoType.ts'

/** A candle in the shape that clients of the facade read. */
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

interface CandleSnapshotRequest extends CoinRequest {
  readonly interval: FacadeInterval
  readonly startMs: number
  /** Epoch ms. Default: now. */
  readonly endMs: number | undefined
}

/**
 * Mark prices over time, oldest first: at most the last 2,000 candles before `endTime`, however early `startTime` is.
 * `null` for an unknown coin.
 */
export const candleSnapshot = defineInfo<CandleSnapshotRequest, readonly FacadeCandle[] | null>({
  parse({ req }, reads) {
    if (!isObject(req) || !isFacadeInterval(req.interval)) throw new MalformedInfoError()
    return {
      interval: req.interval,
      startMs: requiredTimeOf(req, 'startTime'),
      endMs: timeOf(req, 'endTime'),
      ...coinRequest(req, reads),
    }
  },
  async answer({ coin, interval, startMs, endMs: askedEndMs }, reads, meter) {
    const endMs = Math.min(askedEndMs ?? reads.now(), reads.now())
    if (coin === undefined) return null
    if (reads.quote(coin.pairIndex) === undefined || startMs > endMs) return []
    const source = await readSourceCandles(reads, coin.pairIndex, { interval, startMs, endMs })
    const candles = aggregate(source, interval, startMs).slice(-MAX_INFO_ROWS)
    await meter.add(candles.length)
    return candles.map((candle) => facadeCandle(coin, interval, candle))
  },
})

function isObject(value: unknown): value is InfoBody {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns a candle in the facade's shape. Volume is zero, because it is not known. */
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
