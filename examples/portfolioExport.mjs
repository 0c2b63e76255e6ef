// Writes a trader's positions, fills and open orders as CSV files: positions.csv, fills.csv (all fills) and orders.csv.
// Needs: `npm start` in another terminal.
// Run: node examples/run.mjs portfolioExport [--trader trader-1] [--to var/portfolio]. It ends by itself.
// Only reads: its key can't trade. Elsewhere put a read-only key into BEZEL_API_KEY; on the local chain it issues
// itself one.
// Not for tax returns: a fill's `pnl` is before fees, and the value of open positions changes every second.
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { connectReader } from './devnet.mjs'

/**
 * Columns of positions.csv. Money stays the decimal text that the service sends: a float would change its last digits.
 */
const POSITION_COLUMNS = [
  'id market side size collateral collateralSymbol leverage entryPrice markPrice liquidationPrice',
  'unrealizedPnl unrealizedPnlPercent fundingFee borrowingFee sl tp',
]
const FILL_COLUMNS = ['id timestamp market action side price size collateral leverage pnl positionId txHash']
const ORDER_COLUMNS = [
  'id createdAt market side type status size price leverage collateral sl tp reduceOnly slippage clientId txHash',
]
const TIME_COLUMNS = ['timestamp', 'createdAt']

const { values } = parseArgs({
  options: {
    trader: { type: 'string', default: 'trader-1' },
    to: { type: 'string', default: 'var/portfolio' },
    // Fills are read page by page; the service returns up to 500 at once.
    'page-size': { type: 'string', default: '500' },
  },
})

const { account } = await connectReader(values.trader, 'portfolio export')
const fills = await Array.fromAsync(account.allFills({ pageSize: Number(values['page-size']) }))
const [positions, orders] = await Promise.all([account.positions(), account.openOrders()])

await mkdir(values.to, { recursive: true })
await save('positions.csv', POSITION_COLUMNS, positions)
await save('fills.csv', FILL_COLUMNS, fills)
await save('orders.csv', ORDER_COLUMNS, orders)

/** Writes a temporary file and renames it, so that nobody reads half a file. */
async function save(name, columnLines, rows) {
  const columns = columnLines.join(' ').split(' ')
  const path = join(values.to, name)
  const lines = [columns, ...rows.map((row) => columns.map((column) => cellOf(column, row[column])))]
  await writeFile(`${path}.part`, lines.map((cells) => `${cells.map(quoted).join(',')}\r\n`).join(''))
  await rename(`${path}.part`, path)
  console.log(`${path}: ${rows.length} ${rows.length === 1 ? 'row' : 'rows'}`)
}

function cellOf(column, value) {
  if (value === null) return ''
  return TIME_COLUMNS.includes(column) ? new Date(value).toISOString() : String(value)
}

/** Quotes a cell by RFC 4180: one with a comma, a quote or a line end is put in quotes, with its own quotes doubled. */
function quoted(cell) {
  return /[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell
}
