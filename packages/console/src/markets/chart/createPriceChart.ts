import type { Candle, CandleInterval } from '@bezel/protocol/wire'
import {
  CandlestickSeries,
  ColorType,
  createChart,
  CrosshairMode,
  LineStyle,
  type IChartApi,
  type IPriceLine,
  type ISeriesApi,
  type UTCTimestamp,
} from 'lightweight-charts'
import { formatPrice } from '../../ground/format.ts'
import { seriesChange, type ChartBar } from './candleSeries.ts'
import { onThemeChange, readColors, type ChartColors } from './chartColors.ts'
import { axisTimeText, pointerTimeText } from './chartTimes.ts'
import type { LineKind, PriceMark } from './priceLines.ts'
import type { PriceScale } from './triggerDrag.ts'

/** A drawn chart of candles with lines of the own account. */
export interface PriceChart {
  readonly scale: PriceScale
  /** Returns the width of the price axis in pixels. */
  axisWidth(): number
  /** Draws candles, as little of them anew as possible. */
  setCandles(candles: readonly Candle[]): void
  /** Draws lines. None of them changes the scale, however far away its price is. */
  setLines(marks: readonly PriceMark[]): void
  remove(): void
}

export interface PriceChartOptions {
  readonly container: HTMLElement
  readonly interval: CandleInterval
  /** Called when the beginning of what is drawn comes near. */
  readonly onNearBeginning: () => void
  /** Called, at most once a frame, after anything was drawn: places of prices may have changed. */
  readonly onDrawn: () => void
}

/** Bars at the beginning that are left of the view when older ones are asked for. */
const NEAR_BEGINNING_BARS = 40

/** Bars that are shown at first. */
const FIRST_BARS = 110

/** Empty bars right of the last one. */
const RIGHT_BARS = 6

const LINE_STYLES: Readonly<Record<LineKind, LineStyle>> = {
  entry: LineStyle.Solid,
  tp: LineStyle.Dashed,
  sl: LineStyle.Dashed,
  liquidation: LineStyle.Dotted,
  order: LineStyle.LargeDashed,
}

/** Creates a chart that fills its container and follows its size and the theme. */
export function createPriceChart(options: PriceChartOptions): PriceChart {
  const { container, interval, onNearBeginning, onDrawn } = options
  const state = { drawn: [] as readonly Candle[], marks: [] as readonly PriceMark[] }
  let colors = readColors(container)
  const chart = createChart(container, { autoSize: true, ...chartOptions(colors, interval) })
  const series = chart.addSeries(CandlestickSeries, seriesOptions(colors))
  const lines = createLines(series)
  const stopDrawn = notifyDrawn(series, onDrawn)
  chart.timeScale().subscribeVisibleLogicalRangeChange((range) => {
    if (range !== null && state.drawn.length > 0 && range.from < NEAR_BEGINNING_BARS) onNearBeginning()
  })
  const stopTheme = onThemeChange(() => {
    colors = readColors(container)
    chart.applyOptions(chartOptions(colors, interval))
    series.applyOptions(seriesOptions(colors))
    lines.set(state.marks, colors)
  })
  return {
    scale: scaleOf(chart, series),
    axisWidth: () => chart.priceScale('right').width(),
    setCandles(candles) {
      drawCandles(chart, series, state.drawn, candles)
      state.drawn = candles
    },
    setLines(marks) {
      state.marks = marks
      lines.set(marks, colors)
    },
    remove() {
      stopTheme()
      stopDrawn()
      chart.remove()
    },
  }
}

function drawCandles(
  chart: IChartApi,
  series: ISeriesApi<'Candlestick'>,
  drawn: readonly Candle[],
  candles: readonly Candle[],
): void {
  const change = seriesChange(drawn, candles)
  if (change.kind === 'update') for (const bar of change.bars) series.update(timed(bar))
  if (change.kind !== 'replace') return
  const last = change.bars.at(-1)
  if (last !== undefined) series.applyOptions({ priceFormat: priceFormat(last.close) })
  series.setData(change.bars.map(timed))
  if (drawn.length > 0 || last === undefined) return
  const count = change.bars.length
  chart.timeScale().setVisibleLogicalRange({ from: count - FIRST_BARS, to: count + RIGHT_BARS })
}

/** Keeps one line of the chart for each mark. */
function createLines(series: ISeriesApi<'Candlestick'>) {
  const drawn = new Map<string, IPriceLine>()
  return {
    set(marks: readonly PriceMark[], colors: ChartColors): void {
      const ids = new Set(marks.map(({ id }) => id))
      for (const [id, line] of drawn) {
        if (ids.has(id)) continue
        series.removePriceLine(line)
        drawn.delete(id)
      }
      for (const mark of marks) {
        const options = lineOptions(mark, colors)
        const line = drawn.get(mark.id)
        if (line === undefined) drawn.set(mark.id, series.createPriceLine(options))
        else line.applyOptions(options)
      }
    },
  }
}

/** The words of a take profit or stop loss are on its handle, and so not drawn beside the line. */
function lineOptions({ kind, price, title }: PriceMark, { lines, background }: ChartColors) {
  return {
    price: Number(price),
    color: lines[kind],
    lineWidth: 1 as const,
    lineStyle: LINE_STYLES[kind],
    axisLabelVisible: true,
    axisLabelTextColor: background,
    title: kind === 'tp' || kind === 'sl' ? '' : title,
  }
}

/** Calls a function in the frame after the chart was drawn: the library tells its primitives, and nobody else. */
function notifyDrawn(series: ISeriesApi<'Candlestick'>, onDrawn: () => void): () => void {
  let frame = 0
  const primitive = {
    updateAllViews() {
      if (frame !== 0) return
      frame = requestAnimationFrame(() => {
        frame = 0
        onDrawn()
      })
    },
  }
  series.attachPrimitive(primitive)
  return () => cancelAnimationFrame(frame)
}

function scaleOf(chart: IChartApi, series: ISeriesApi<'Candlestick'>): PriceScale {
  return {
    get height() {
      return chart.panes()[0]?.getHeight() ?? 0
    },
    priceAt: (y) => series.coordinateToPrice(y),
    yOf: (price) => series.priceToCoordinate(price),
  }
}

function timed({ time, ...prices }: ChartBar) {
  return { time: time as UTCTimestamp, ...prices }
}

function chartOptions(colors: ChartColors, interval: CandleInterval) {
  const line = { color: colors.crosshair, labelBackgroundColor: colors.crosshair }
  return {
    layout: {
      background: { type: ColorType.Solid as const, color: colors.background },
      textColor: colors.text,
      // The logo brings its own style element, which the content security policy refuses. A link is below the chart.
      attributionLogo: false,
    },
    grid: { vertLines: { color: colors.grid }, horzLines: { color: colors.grid } },
    rightPriceScale: { borderColor: colors.border, minimumWidth: 72 },
    timeScale: {
      borderColor: colors.border,
      timeVisible: true,
      secondsVisible: false,
      rightOffset: RIGHT_BARS,
      tickMarkFormatter: (time: unknown, kind: number) => axisTimeText(time, kind, interval),
    },
    localization: { timeFormatter: (time: unknown) => pointerTimeText(time, interval) },
    crosshair: { mode: CrosshairMode.Normal, vertLine: line, horzLine: line },
    // A finger that moves up or down scrolls the page, as everywhere else.
    handleScroll: { vertTouchDrag: false },
  }
}

function seriesOptions({ up, down }: ChartColors) {
  return {
    upColor: up,
    downColor: down,
    borderUpColor: up,
    borderDownColor: down,
    wickUpColor: up,
    wickDownColor: down,
  }
}

/** Returns a format with the digits that prices of this magnitude have elsewhere on the page. */
function priceFormat(price: number) {
  const places = price >= 1 ? Math.max(2, 5 - Math.floor(Math.log10(price))) : 4 - Math.floor(Math.log10(price))
  return {
    type: 'custom' as const,
    minMove: 10 ** -places,
    formatter: (value: number) => formatPrice(value.toFixed(places), { precision: places }),
  }
}
