import type { Command } from './command.ts'
import { MARKET_OPTION, marketFilterOf } from './endAll.ts'
import { showList, type Column } from '../output/formatTable.ts'
import type { Position } from '@bezel/sdk'
import { reclaimAdvice } from '../output/advice.ts'
import {
  pendingWords,
  paintSide,
  shortAmount,
  shortLeverage,
  shortPrice,
  shortSize,
  shortValue,
} from '../output/text.ts'

/** The table of `bezel positions`. */
const POSITION_COLUMNS: readonly Column<Position>[] = [
  { title: 'ID', cell: ({ id }) => id },
  { title: 'MARKET', cell: ({ market }) => market },
  { title: 'SIDE', cell: ({ side }) => side, paint: paintSide },
  { title: 'SIZE', cell: ({ size }) => shortSize(size), isNumber: true },
  { title: 'LEV', cell: ({ leverage }) => shortLeverage(leverage), isNumber: true, drop: 2 },
  {
    title: 'COLLATERAL',
    cell: (of) => `${shortAmount(of.collateral)} ${of.collateralSymbol}`,
    isNumber: true,
    drop: 3,
  },
  { title: 'ENTRY', cell: ({ entryPrice }) => shortPrice(entryPrice), isNumber: true, drop: 1 },
  { title: 'MARK', cell: ({ markPrice }) => shortPrice(markPrice), isNumber: true, drop: 1 },
  { title: 'LIQUIDATION', cell: ({ liquidationPrice }) => shortPrice(liquidationPrice), isNumber: true, drop: 1 },
  {
    title: 'PNL',
    cell: (of) => `${shortValue(of.unrealizedPnl)} (${shortValue(of.unrealizedPnlPercent)}%)`,
    isNumber: true,
    paint: ({ unrealizedPnl }, style) => (unrealizedPnl.startsWith('-') ? style.bad : style.good),
  },
  { title: 'TP', cell: ({ tp }) => unset(tp), isNumber: true, drop: 4 },
  { title: 'SL', cell: ({ sl }) => unset(sl), isNumber: true, drop: 4 },
]

/** `bezel positions`. */
export const positionsCommand: Command = {
  name: 'positions',
  summary: 'lists the open positions with their profit',
  operands: [],
  options: MARKET_OPTION,
  examples: ['positions', 'positions --market BTC/USD --json'],
  async run({ args, output, environment }) {
    const filter = marketFilterOf(args)
    const client = await environment.readingClient()
    const rows = await client.account.positions(filter)
    const isWaiting = rows.some(({ pendingUpdate }) => pendingUpdate !== null)
    const columns = isWaiting ? [...POSITION_COLUMNS, PENDING_COLUMN] : POSITION_COLUMNS
    const account = environment.labelOf(await client.trader())
    showList(output, { rows, columns, none: 'There are no open positions.', account })
    for (const { id, pendingUpdate } of rows) {
      if (pendingUpdate?.status === 'timed_out') output.note(reclaimAdvice(id))
    }
  },
}

/** The change that a position waits for, shown only when there is one. */
const PENDING_COLUMN: Column<Position> = {
  title: 'PENDING',
  cell: ({ pendingUpdate, collateralSymbol }) =>
    pendingUpdate === null ? '' : pendingWords(pendingUpdate, collateralSymbol),
  paint: ({ pendingUpdate }, style) => (pendingUpdate?.status === 'timed_out' ? style.bad : style.warn),
}

/** Formats a trigger price. On the wire an unset trigger is 0. */
function unset(price: string): string {
  return price === '0' ? '-' : shortPrice(price)
}
