import { useComputed, useSignal, useSignalEffect, type ReadonlySignal } from '@preact/signals'
import type { CandleInterval } from '@bezel/protocol/wire'
import { useEffect, useRef } from 'preact/hooks'
import { route, setQuery } from '../../router/router.ts'
import { openOrders, positions } from '../../data/account.ts'
import { publicStream } from '../../data/live.ts'
import { browserStore, readStored, writeStored } from '../../data/storage.ts'
import { openCandles, type CandleFeed } from '../../data/useTopic.ts'
import { problemOf } from '../../ground/problem.ts'
import { Button } from '../../ui/Button.tsx'
import { ProblemNotice } from '../../ui/Notice.tsx'
import { Skeleton } from '../../ui/Skeleton.tsx'
import { INTERVAL_NAMES, INTERVALS, intervalOf } from './candleSeries.ts'
import { ChartSummary } from './ChartSummary.tsx'
import { priceMarks, triggerMarks, type PriceMark } from './priceLines.ts'
import type { TriggerDraft } from './triggerDrag.ts'
import { TriggerHandles } from './TriggerHandles.tsx'
import { useChart, type ShownChart } from './useChart.ts'
import '../chart.css'

const INTERVAL_KEY = 'interval'

/** The chart of a market with its switch of widths. The width is in the address; the last one is the default. */
export function ChartPanel({ symbol }: { readonly symbol: string }) {
  const interval = useComputed(() => intervalOf(route.value.query['interval'] ?? rememberedInterval()))
  const choose = (next: CandleInterval) => {
    writeStored(browserStore, INTERVAL_KEY, next)
    setQuery({ interval: next })
  }
  return (
    <section class="chart-panel" aria-label={`Chart of ${symbol}`}>
      <div class="chart-bar" role="group" aria-label="Width of a candle">
        {INTERVALS.map((name) => (
          <button
            key={name}
            type="button"
            class="chart-interval"
            aria-pressed={interval.value === name}
            aria-label={`${name}: ${INTERVAL_NAMES[name]}`}
            data-testid={`interval-${name}`}
            onClick={() => choose(name)}
          >
            {name}
          </button>
        ))}
        <a class="chart-credit" href="https://www.tradingview.com/" target="_blank" rel="noreferrer noopener">
          <span class="chart-credit-lead">Charts by </span>TradingView
        </a>
      </div>
      <ChartBody key={`${symbol} ${interval.value}`} symbol={symbol} interval={interval.value} />
    </section>
  )
}

/** The candles of one market and width. It is made anew for another, and its feed ends with it. */
function ChartBody({ symbol, interval }: { readonly symbol: string; readonly interval: CandleInterval }) {
  const container = useRef<HTMLDivElement>(null)
  const opened = useFeed(symbol, interval)
  const { feed } = opened
  const draft = useSignal<TriggerDraft | null>(null)
  const shown = useChart(container, interval, () => void feed.peek()?.loadOlder())
  const marks = useComputed(() =>
    withDraft(priceMarks(symbol, positions.value ?? [], openOrders.value ?? []), draft.value),
  )
  const triggers = useComputed(() => triggerMarks(symbol, positions.value ?? []))
  useSignalEffect(() => {
    const candles = feed.value?.candles.value
    if (candles !== null && candles !== undefined) shown.chart.value?.setCandles(candles)
  })
  useSignalEffect(() => shown.chart.value?.setLines(marks.value))
  const chart = shown.chart.value
  return (
    <figure class="chart" data-testid="chart" data-ready={chart !== null && feed.value?.candles.value !== null}>
      <div class="chart-canvas" ref={container} aria-hidden="true" />
      <Waiting opened={opened} shown={shown} />
      {chart !== null && (
        <TriggerHandles symbol={symbol} chart={chart} drawings={shown.drawings} triggers={triggers} draft={draft} />
      )}
      <ChartSummary symbol={symbol} interval={interval} feed={feed} marks={marks} />
    </figure>
  )
}

/** A feed of candles for the life of a component, opened once the stream is there. */
interface OpenedFeed {
  readonly feed: ReadonlySignal<CandleFeed | null>
  /** Closes the feed and opens it again, after a failure. */
  reopen(): void
}

function useFeed(symbol: string, interval: CandleInterval): OpenedFeed {
  const feed = useSignal<CandleFeed | null>(null)
  const attempt = useSignal(0)
  const stream = publicStream.value
  useEffect(() => {
    if (stream === null) return
    const opened = openCandles(symbol, interval)
    feed.value = opened
    return () => opened.close()
  }, [stream, attempt.value])
  return { feed, reopen: () => (attempt.value += 1) }
}

interface WaitingProps {
  readonly opened: OpenedFeed
  readonly shown: ShownChart
}

/** Stands over the chart while there is nothing in it: a grey shape, or the reason and the next step. */
function Waiting({ opened: { feed, reopen }, shown }: WaitingProps) {
  const candles = feed.value?.candles.value ?? null
  const error = shown.problem.value ?? feed.value?.problem.value ?? null
  if (error !== null && (candles === null || shown.chart.value === null)) {
    const again = () => (shown.problem.peek() === null ? reopen() : shown.load())
    return (
      <div class="chart-over">
        <ProblemNotice problem={problemOf(error)} action={<Button onClick={again}>Try again</Button>} />
      </div>
    )
  }
  if (candles !== null && shown.chart.value !== null) {
    return candles.length === 0 ? <p class="chart-over">There are no candles of this market yet.</p> : null
  }
  return (
    <div class="chart-over" aria-hidden="true">
      <Skeleton height="100%" />
    </div>
  )
}

/** Returns the lines with the one that is being moved at its new price. */
function withDraft(marks: readonly PriceMark[], draft: TriggerDraft | null): readonly PriceMark[] {
  if (draft === null) return marks
  const { id, price, trigger } = draft
  return [...marks.filter((mark) => mark.id !== id), { id, kind: trigger, price, title: '' }]
}

function rememberedInterval(): string | undefined {
  const stored = readStored(browserStore, INTERVAL_KEY)
  return typeof stored === 'string' ? stored : undefined
}
