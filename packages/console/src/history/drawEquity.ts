import {
  AreaSeries,
  ColorType,
  createChart,
  LineSeries,
  LineType,
  type IChartApi,
  type UTCTimestamp,
} from 'lightweight-charts'
import { formatAmount, formatDate } from '../ground/format.ts'
import { themeColor } from '../ui/theme.ts'
import { LINES, type EquityLines, type LineName, type LinePoint } from './equity.ts'

/** A drawn chart of equity above PnL, fees, funding and borrowing. */
export interface EquityChart {
  setLines(lines: EquityLines['lines']): void
  /** Reads the colours of the theme again. */
  paint(): void
  remove(): void
}

/** Custom properties of the theme that colour the lines, as the legend does. */
const COLORS: Readonly<Record<LineName, `--${string}`>> = {
  equity: '--accent',
  netPnl: '--up',
  fees: '--down',
  funding: '--warn',
  borrowing: '--text-muted',
}

/** Equity has the upper pane for itself, because it is larger than everything else by far. */
const PANES: Readonly<Record<LineName, number>> = { equity: 0, netPnl: 1, fees: 1, funding: 1, borrowing: 1 }

/** Draws into a container and follows its size. */
export function drawEquity(container: HTMLElement): EquityChart {
  const chart = createChart(container, FIXED_OPTIONS)
  const lines = new Map(LINES.map((name) => [name, addLine(chart, name)]))
  const paint = (): void => {
    // The colours alone: giving the time axis its room again would move it away from what is shown.
    chart.applyOptions(chartColors())
    for (const [name, line] of lines) line.applyOptions(colorsOf(name))
  }
  paint()
  // All of it is shown until the user takes hold of the chart; what is then moved or zoomed stays.
  let isHeld = false
  container.addEventListener('pointerdown', () => (isHeld = true), { once: true })
  return {
    setLines(told) {
      for (const [name, line] of lines) line.setData(told[name].map(timed))
      if (!isHeld) chart.timeScale().fitContent()
    },
    paint,
    remove: () => chart.remove(),
  }
}

function addLine(chart: IChartApi, name: LineName) {
  const common = {
    lineType: LineType.WithSteps,
    lineWidth: 2 as const,
    priceLineVisible: false,
    priceFormat: {
      type: 'custom' as const,
      minMove: 0.000001,
      formatter: (value: number) => formatAmount(value.toFixed(6)),
    },
  }
  return name === 'equity'
    ? chart.addSeries(AreaSeries, common, PANES[name])
    : chart.addSeries(LineSeries, common, PANES[name])
}

function colorsOf(name: LineName) {
  const color = themeColor(COLORS[name])
  if (name !== 'equity') return { color }
  return { lineColor: color, topColor: `${color}40`, bottomColor: `${color}08` }
}

function timed({ time, value }: LinePoint) {
  return { time: time as UTCTimestamp, value: Number(value) }
}

const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short' })
const CLOCK = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit' })
const SECONDS = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' })

/** Kinds of marks of the time axis: from the first on they are times of the day, from the second on with seconds. */
const [FIRST_CLOCK_MARK, FIRST_SECONDS_MARK] = [3, 4]

function markText(time: unknown, kind: number): string {
  const format = kind < FIRST_CLOCK_MARK ? DAY : kind < FIRST_SECONDS_MARK ? CLOCK : SECONDS
  return format.format(Number(time) * 1000)
}

const FIXED_OPTIONS = {
  autoSize: true,
  layout: {
    panes: { enableResize: false },
    // The logo brings a style element of its own, which the content security policy refuses; a link is below the chart.
    attributionLogo: false,
  },
  // A price that is cut in half at the edge of a pane is left out.
  rightPriceScale: { minimumWidth: 72, entireTextOnly: true },
  timeScale: {
    timeVisible: true,
    secondsVisible: true,
    lockVisibleTimeRangeOnResize: true,
    // Room for half of the last time.
    rightOffsetPixels: 36,
    tickMarkFormatter: markText,
  },
  localization: { timeFormatter: (time: unknown) => formatDate(Number(time) * 1000) },
  // A finger that moves up or down scrolls the page, as everywhere else.
  handleScroll: { vertTouchDrag: false, mouseWheel: false },
  handleScale: { mouseWheel: false },
}

function chartColors() {
  const borderColor = themeColor('--border')
  const gridLine = { color: themeColor('--grid-line') }
  return {
    layout: {
      background: { type: ColorType.Solid as const, color: themeColor('--surface') },
      textColor: themeColor('--text-muted'),
      panes: { separatorColor: borderColor },
    },
    grid: { vertLines: gridLine, horzLines: gridLine },
    rightPriceScale: { borderColor },
    timeScale: { borderColor },
  }
}
