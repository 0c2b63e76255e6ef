// Writes a trader's positions, fills and open orders as CSV files: positions.csv, fills.csv (all fills) and orders.csv,
// and books.csv, which adds them up for each collateral.
// Needs: `npm start` in another terminal.
// Run: node examples/run.mjs portfolioExport [--trader trader-1] [--to var/portfolio]. It ends by itself.
// Only reads: its key can't trade. Elsewhere put a read-only key into BEZEL_API_KEY; on the local chain it issues
// itself one.
// Not for tax returns: the value of open positions changes every second. `netPnl` of a fill is after all fees.
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { connectReader } from './devnet.mjs'

/**
 * Columns of positions.csv. Money stays the decimal text that the service sends: a float would change its last digits.
 */
const POSITION_COLUMNS = [
  'id market side size collateral collateralSymbol leverage entryPrice markPrice liquidationPrice',
  'unrealizedPnl unrealizedPnlPercent fundingFee borrowingFee realized sl tp',
]
const FILL_COLUMNS = [
  'id timestamp market action side price size collateral leverage collateralSymbol deposit payout',
  'pnl feeCollateral fundingFee borrowingFee forfeited netPnl positionId orderId clientId txHash',
]
const AMOUNT_COLUMNS = 'deposit payout pnl feeCollateral fundingFee borrowingFee forfeited netPnl'.split(' ')
const BOOK_COLUMNS = [`collateralSymbol entries ${AMOUNT_COLUMNS.join(' ')} inPositions difference`]
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
const books = addUp()
await save('books.csv', BOOK_COLUMNS, books)
for (const { collateralSymbol, netPnl, difference } of books) {
  console.log(
    `${collateralSymbol}: net ${netPnl}${difference === '0' ? ', the books balance' : `, off by ${difference}`}`,
  )
}
const unknown = fills.filter(({ netPnl }) => netPnl === null).length
if (unknown > 0) console.log(`${unknown} fills are from before amounts were kept: their positions do not add up`)

/**
 * Adds up the fills and positions of each collateral. What went in and did not come out is in open positions or was
 * lost: deposit - payout = collateral + realized of the positions - netPnl. The difference is 0 to the last digit,
 * unless something was executed between the two reads.
 */
function addUp() {
  const symbols = new Set([...fills, ...positions].flatMap(({ collateralSymbol }) => collateralSymbol ?? []))
  return [...symbols].toSorted().map((collateralSymbol) => {
    const isOfIt = (row) => row.collateralSymbol === collateralSymbol
    const entries = fills.filter(isOfIt)
    const sums = Object.fromEntries(
      AMOUNT_COLUMNS.map((column) => [column, sum(entries.map((entry) => entry[column]))]),
    )
    const inPositions = sum(positions.filter(isOfIt).flatMap(({ collateral, realized }) => [collateral, realized]))
    const difference = sums.deposit - sums.payout + sums.netPnl - inPositions
    const texts = Object.entries({ ...sums, inPositions, difference }).map(([name, units]) => [name, decimal(units)])
    return { collateralSymbol, entries: entries.length, ...Object.fromEntries(texts) }
  })
}

/** Adds decimals exactly, in units of 1e-18. No collateral has more than 18 decimals. */
function sum(texts) {
  return texts.reduce((total, text) => total + unitsOf(text), 0n)
}

function unitsOf(text) {
  const [, sign, whole, fraction = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text)
  return BigInt(`${sign}${whole}${fraction.padEnd(18, '0')}`)
}

function decimal(units) {
  const digits = String(units < 0n ? -units : units).padStart(19, '0')
  const text = `${digits.slice(0, -18)}.${digits.slice(-18)}`.replace(/\.?0+$/, '')
  return units < 0n ? `-${text}` : text
}

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
