import type { Command } from './command.ts'
import { showList, type Column } from '../output/formatTable.ts'
import type { Position } from '@bezel/sdk'
import { pendingWords, reclaimAdvice } from '../output/pendingUpdate.ts'
import { paintSide, shortDecimal } from '../output/text.ts'

/** The table of `bezel positions`. */
const POSITION_COLUMNS: readonly Column<Position>[] = [
  { title: 'ID', cell: ({ id }) => id },
  { title: 'MARKET', cell: ({ market }) => market },
  { title: 'SIDE', cell: ({ side }) => side, paint: paintSide },
  { title: 'SIZE', cell: ({ size }) => shortDecimal(size, 6), isNumber: true },
  { title: 'LEV', cell: ({ leverage }) => `${shortDecimal(leverage, 2)}x`, isNumber: true, drop: 2 },
  {
    title: 'COLLATERAL',
    cell: (of) => `${shortDecimal(of.collateral, 2)} ${of.collateralSymbol}`,
    isNumber: true,
    drop: 3,
  },
  { title: 'ENTRY', cell: ({ entryPrice }) => shortDecimal(entryPrice, 6), isNumber: true },
  { title: 'MARK', cell: ({ markPrice }) => shortDecimal(markPrice, 6), isNumber: true },
  { title: 'LIQUIDATION', cell: ({ liquidationPrice }) => shortDecimal(liquidationPrice, 6), isNumber: true, drop: 1 },
  {
    title: 'PNL',
    cell: (of) => `${shortDecimal(of.unrealizedPnl, 2)} (${shortDecimal(of.unrealizedPnlPercent, 2)}%)`,
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
  options: {},
  examples: ['positions', 'positions --json'],
  async run({ output, environment }) {
    const client = await environment.readingClient()
    const rows = await client.account.positions()
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
  return price === '0' ? '-' : shortDecimal(price, 6)
}
