import type { Position } from '@bezel/sdk'
import type { Column } from './formatTable.ts'
import { paintSide } from './orderColumns.ts'
import { shortDecimal } from './shortDecimal.ts'

/** The table of `bezel positions`. */
export const POSITION_COLUMNS: readonly Column<Position>[] = [
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

/** An unset trigger is 0 on the wire. */
function unset(price: string): string {
  return price === '0' ? '-' : shortDecimal(price, 6)
}
