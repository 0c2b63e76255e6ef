import { useComputed, useSignal, type ReadonlySignal } from '@preact/signals'
import type { CandleInterval } from '@bezel/protocol/wire'
import { useEffect } from 'preact/hooks'
import type { CandleFeed } from '../../data/useTopic.ts'
import { formatPrice } from '../../ground/format.ts'
import { summaryOf } from './candleSeries.ts'
import type { LineKind, PriceMark } from './priceLines.ts'

/** Candles that the summary is about, as many as the chart shows at first. */
const SUMMED_CANDLES = 110

/** Pause between two summaries: one that changes with every tick can't be read. */
const RENEW_MS = 10_000

const LINE_NAMES: Readonly<Record<LineKind, string>> = {
  entry: 'Entry',
  tp: 'Take profit',
  sl: 'Stop loss',
  liquidation: 'Liquidation',
  order: 'Order',
}

export interface ChartSummaryProps {
  readonly symbol: string
  readonly interval: CandleInterval
  readonly feed: ReadonlySignal<CandleFeed | null>
  readonly marks: ReadonlySignal<readonly PriceMark[]>
}

/** The chart in words, for those who can't see it. */
export function ChartSummary({ symbol, interval, feed, marks }: ChartSummaryProps) {
  const renewals = useSignal(0)
  useEffect(() => {
    const timer = setInterval(() => (renewals.value += 1), RENEW_MS)
    return () => clearInterval(timer)
  }, [])
  const isLoaded = useComputed(() => (feed.value?.candles.value?.length ?? 0) > 0)
  const text = useComputed(() => {
    void renewals.value
    if (!isLoaded.value) return `The chart of ${symbol} is loading.`
    return summaryOf(symbol, interval, (feed.peek()?.candles.peek() ?? []).slice(-SUMMED_CANDLES))
  })
  return (
    <figcaption class="visually-hidden">
      <p>{text}</p>
      {marks.value.length > 0 && (
        <ul>
          {marks.value.map(({ id, kind, title, price }) => (
            <li key={id}>
              {LINE_NAMES[kind]} {kind === 'order' || kind === 'entry' ? title : ''} {formatPrice(price)}
            </li>
          ))}
        </ul>
      )}
    </figcaption>
  )
}
