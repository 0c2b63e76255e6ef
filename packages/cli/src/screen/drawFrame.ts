import type { Order } from '@bezel/sdk'
import { formatTable, type Column } from '../output/formatTable.ts'
import { spellCommands } from '../output/advice.ts'
import {
  paintSide,
  paintStatus,
  shortAmount,
  shortLeverage,
  shortSize,
  shortTime,
  shortValue,
  visibleWidth,
  wrapWords,
  type Style,
  clipLine,
  screenText,
  tightPrice,
} from '../output/text.ts'
import { eventLines } from './eventText.ts'
import { markPosition, type MarkedPosition } from './markedPosition.ts'
import type { ScreenState } from './screenState.ts'

/** The size of a terminal in characters. */
export interface ScreenSize {
  readonly columns: number
  readonly rows: number
}

/** A part of the screen. It gets between `least` and `wanted` rows. */
interface Section {
  readonly least: number
  readonly wanted: number
  /** Returns at most `rows` lines. What does not fit is counted in them. */
  draw(rows: number): readonly string[]
}

interface Page {
  readonly columns: number
  readonly style: Style
}

const MIN_SIZE: ScreenSize = { columns: 40, rows: 10 }

/** The least number of rows of a screen with empty lines between its parts. */
const SPACIOUS_ROWS = 36

/** The most rows of account, chain and balances, on a low screen and on others. */
const HEADER_ROWS = { low: 2, usual: 3 }

const LOW_ROWS = 16

const GAP = '  '

/** Draws the screen: one line for each row of the terminal, none wider than it. */
export function drawFrame(state: ScreenState, { columns, rows }: ScreenSize, style: Style): string[] {
  const isLargeEnough = columns >= MIN_SIZE.columns && rows >= MIN_SIZE.rows
  const lines = isLargeEnough ? wholeFrame(state, rows, { columns, style }) : tooSmall(columns)
  return Array.from({ length: rows }, (_, row) => clipLine(lines[row] ?? '', columns))
}

function tooSmall(columns: number): string[] {
  return wrapWords(`The terminal is too small: ${MIN_SIZE.columns} x ${MIN_SIZE.rows} at least. q leaves.`, columns)
}

function wholeFrame(state: ScreenState, rows: number, page: Page): string[] {
  const header = headerLines(state, rows < LOW_ROWS ? HEADER_ROWS.low : HEADER_ROWS.usual, page)
  const sections = [positionsSection, ordersSection, pricesSection, logSection].map((make) => make(state, page))
  const gap = rows >= SPACIOUS_ROWS ? [''] : []
  const room = rows - header.length - 1
  const heights = shareRows(sections, room - gap.length * sections.length)
  const body = sections.flatMap((section, place) => [...gap, ...section.draw(heights[place]!)])
  const filled = Array.from({ length: room }, (_, row) => body[row] ?? '')
  return [...header, ...filled, footerLine(state, page)]
}

/** Gives each section its least height, then one more row in turn to those that want more. */
function shareRows(sections: readonly Section[], room: number): number[] {
  const heights = sections.map(({ least }) => least)
  for (let left = room - heights.reduce((sum, height) => sum + height, 0); left > 0;) {
    const hungry = [...sections.keys()].filter((place) => heights[place]! < sections[place]!.wanted)
    if (hungry.length === 0) break
    for (const place of hungry.slice(0, left)) heights[place] = heights[place]! + 1
    left -= hungry.length
  }
  return heights
}

/** Returns account, chain and balances, as many beside each other as fit. */
function headerLines({ account, chain, balances }: ScreenState, rows: number, { columns, style }: Page): string[] {
  const name = account.length <= columns ? account : account.replace(/(0x\w{4})\w{32}(\w{4})/, '$1…$2')
  const amounts = balances.map(({ collateral, balance }) => `${shortAmount(balance)} ${screenText(collateral)}`)
  const first = `${name}${GAP}${chain}`.length <= columns ? [`${name}${GAP}${chain}`] : [name, chain]
  return [...first.map(style.bold), ...flow(amounts, columns, rows - first.length)]
}

/** Puts texts beside each other, on at most `rows` lines. Those that do not fit are counted at the end. */
function flow(texts: readonly string[], columns: number, rows: number): string[] {
  for (let count = texts.length; count > 0; count -= 1) {
    const more = count < texts.length ? [`${texts.length - count} more`] : []
    const lines: string[] = []
    for (const text of [...texts.slice(0, count), ...more]) {
      const joined = `${lines.at(-1)}${GAP}${text}`
      if (lines.length > 0 && joined.length <= columns) lines[lines.length - 1] = joined
      else lines.push(text)
    }
    if (lines.length <= rows) return lines
  }
  return texts.length === 0 ? [] : [`${texts.length} more`]
}

/** The table of positions. What does not fit beside the rest stands below each row. */
const POSITION_COLUMNS: readonly Column<MarkedPosition>[] = [
  { title: 'POSITION', cell: ({ id }) => id },
  { title: 'MARKET', cell: ({ market }) => screenText(market) },
  { title: 'SIDE', cell: ({ side }) => side, paint: paintSide },
  { title: 'SIZE', cell: ({ size }) => shortSize(size), isNumber: true },
  {
    title: 'PNL',
    cell: ({ pnl, collateralSymbol }) => `${shortValue(pnl)} ${screenText(collateralSymbol)}`,
    isNumber: true,
    paint: paintProfit,
  },
  {
    title: 'PNL %',
    cell: ({ pnlPercent }) => shortValue(pnlPercent),
    isNumber: true,
    paint: paintProfit,
    drop: 5,
  },
  { title: 'MARK', cell: ({ mark }) => tightPrice(mark), isNumber: true, drop: 1 },
  { title: 'LIQ', cell: ({ liquidationPrice }) => unset(liquidationPrice), isNumber: true, drop: 1 },
  { title: 'TP', cell: ({ tp }) => unset(tp), isNumber: true, drop: 2 },
  { title: 'SL', cell: ({ sl }) => unset(sl), isNumber: true, drop: 2 },
  { title: 'ENTRY', cell: ({ entryPrice }) => tightPrice(entryPrice), isNumber: true, drop: 3 },
  { title: 'LEV', cell: ({ leverage }) => shortLeverage(leverage), isNumber: true, drop: 4 },
]

/** The change that a position waits for, shown only when there is one. */
const PENDING_COLUMN: Column<MarkedPosition> = {
  title: 'WAITS FOR',
  cell: ({ pendingUpdate }) =>
    pendingUpdate === null ? '' : `${pendingUpdate.kind}${pendingUpdate.status === 'timed_out' ? ', timed out' : ''}`,
  paint: ({ pendingUpdate }, style) => (pendingUpdate?.status === 'timed_out' ? style.bad : style.warn),
}

function positionsSection({ positions, prices, typing }: ScreenState, page: Page): Section {
  if (positions === undefined) return oneLine('Positions: waiting for the service')
  if (positions.length === 0) return oneLine('No open positions')
  const rows = positions.map((position) => markPosition(position, prices.get(position.market)))
  const isWaiting = rows.some(({ pendingUpdate }) => pendingUpdate !== null)
  const columns = isWaiting ? [...POSITION_COLUMNS, PENDING_COLUMN] : POSITION_COLUMNS
  return tableSection(rows, columns, spellCommands('`bezel positions`', typing), page)
}

/** The table of orders. What does not fit beside the rest stands below each row. */
const ORDER_COLUMNS: readonly Column<Order>[] = [
  { title: 'ORDER', cell: ({ id }) => id },
  { title: 'MARKET', cell: ({ market }) => screenText(market) },
  { title: 'SIDE', cell: ({ side }) => side, paint: paintSide },
  { title: 'TYPE', cell: ({ type, reduceOnly }) => (reduceOnly ? 'close' : type) },
  { title: 'SIZE', cell: ({ size }) => shortSize(size), isNumber: true },
  { title: 'PRICE', cell: ({ price }) => unset(price), isNumber: true },
  { title: 'STATUS', cell: ({ status }) => status, paint: paintStatus },
  { title: 'TP', cell: ({ tp }) => unset(tp), isNumber: true, drop: 1 },
  { title: 'SL', cell: ({ sl }) => unset(sl), isNumber: true, drop: 1 },
  { title: 'LEV', cell: ({ leverage }) => shortLeverage(leverage), isNumber: true, drop: 2 },
  { title: 'UPDATED', cell: ({ updatedAt }) => shortTime(updatedAt), drop: 3 },
]

function ordersSection({ orders, typing }: ScreenState, page: Page): Section {
  if (orders === undefined) return oneLine('Orders: waiting for the service')
  if (orders.length === 0) return oneLine('No open orders')
  return tableSection(orders, ORDER_COLUMNS, spellCommands('`bezel orders`', typing), page)
}

function oneLine(text: string): Section {
  return { least: 1, wanted: 1, draw: () => [text] }
}

/** Makes the section of a table. `command` shows the rows that do not fit. */
function tableSection<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  command: string,
  { columns: width, style }: Page,
): Section {
  const tableOf = (count: number): string[] => formatTable(rows.slice(0, count), columns, { width, style })
  return {
    least: 1,
    wanted: tableOf(rows.length).length,
    draw(height) {
      for (let count = Math.min(rows.length, height - 1); count > 0; count -= 1) {
        const more = count < rows.length ? [`${rows.length - count} more: ${command}`] : []
        const lines = [...tableOf(count), ...more]
        if (lines.length <= height) return lines
      }
      return [`${rows.length} ${columns[0]!.title.toLowerCase()}${rows.length === 1 ? '' : 's'}: ${command}`]
    },
  }
}

/** Makes the section of prices: those of the account's own markets first. */
function pricesSection(state: ScreenState, { columns, style }: Page): Section {
  const cells = marketsOf(state).flatMap((market) => {
    const price = state.prices.get(market)
    return price === undefined ? [] : [`${screenText(market)} ${tightPrice(price.mark)}`]
  })
  if (cells.length === 0) return oneLine('Prices: waiting for the service')
  const width = Math.max(...cells.map((cell) => cell.length))
  const beside = Math.max(1, Math.floor((columns + GAP.length) / (width + GAP.length)))
  return {
    least: 1,
    wanted: 1 + Math.ceil(cells.length / beside),
    draw(height) {
      const title = height > 1 ? [style.dim('PRICES')] : []
      const room = beside * (height - title.length)
      const hidden = cells.length - room + 1
      const shown = hidden > 1 ? [...cells.slice(0, room - 1), `${hidden} more`] : cells
      const lines = Array.from({ length: Math.ceil(shown.length / beside) }, (_, row) =>
        shown
          .slice(row * beside, (row + 1) * beside)
          .map((cell) => cell.padEnd(width))
          .join(GAP)
          .trimEnd(),
      )
      return [...title, ...lines]
    },
  }
}

function marketsOf({ positions, orders, chosen, prices }: ScreenState): readonly string[] {
  const own = [...(positions ?? []), ...(orders ?? [])].map(({ market }) => market)
  return [...new Set([...own, ...(chosen ?? prices.keys())])]
}

/** Makes the section of the log, newest event last. */
function logSection({ log, typing }: ScreenState, { columns, style }: Page): Section {
  if (log.length === 0) return oneLine('Log: nothing has happened yet')
  return {
    least: 1,
    wanted: Number.POSITIVE_INFINITY,
    draw(height) {
      const room = height > 1 ? height - 1 : height
      const lines: string[] = []
      let earlier = log.at(-1)!.seq
      for (const event of log.toReversed()) {
        const more = eventLines(event, { width: columns, style })
        if (lines.length > 0 && lines.length + more.length > room) break
        lines.unshift(...(more.length > room ? shortened(more, room, columns) : more))
        earlier = event.seq - 1
      }
      const count = earlier > 0 ? `${GAP}${earlier} earlier: ${spellCommands('`bezel watch --after 0`', typing)}` : ''
      return height > 1 ? [style.dim(`LOG${count}`), ...lines] : lines
    },
  }
}

/** Fits the lines of an event that is longer than the room. */
function shortened(lines: readonly string[], rows: number, columns: number): string[] {
  return [...lines.slice(0, rows - 1), clipLine(lines.slice(rows - 1).join(' '), columns)]
}

/** Returns the state of the connection, the time, and the key that leaves. */
function footerLine({ connection, nowMs }: ScreenState, { columns, style }: Page): string {
  const right = `${shortTime(nowMs)} UTC${GAP}q leaves`
  const paint = { open: style.good, connecting: style.warn, waiting: style.bad }[connection.state]
  const left = paint(clipLine(connectionWords(connection, nowMs), columns - right.length - GAP.length))
  return left + ' '.repeat(columns - visibleWidth(left) - right.length) + right
}

function connectionWords(connection: ScreenState['connection'], nowMs: number): string {
  if (connection.state !== 'waiting') return connection.state === 'open' ? 'live' : 'connecting'
  const seconds = Math.ceil((connection.untilMs - nowMs) / 1000)
  const when = seconds > 0 ? `in ${seconds} s` : 'now'
  return `connection lost, trying again ${when} (${screenText(connection.reason)})`
}

function paintProfit({ pnl }: MarkedPosition, style: Style): (text: string) => string {
  return pnl.startsWith('-') ? style.bad : style.good
}

/** Formats a price that may not be set: null in an order, 0 in a position. */
function unset(price: string | null): string {
  return price === null || price === '0' ? '-' : tightPrice(price)
}
