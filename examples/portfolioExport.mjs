// Writes a trader's positions, fills and open orders as CSV files: positions.csv, fills.csv (all fills) and orders.csv,
// and books.csv, which adds them up for each collateral. `bezel export` does the same from the command line.
// Needs: `npm start` in another terminal.
// Run: node examples/run.mjs portfolioExport [--trader trader-1] [--to var/portfolio]. It ends by itself.
// Without --to it writes to the folder portfolio in BEZEL_DATA, which the next start of the local chain wipes.
// Only reads: its key can't trade. Elsewhere put a read-only key into BEZEL_API_KEY; on the local chain it issues
// itself one.
// Not for tax returns: the value of open positions changes every second. `netPnl` of a fill is after all fees.
import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { addUpBooks, csvOfBooks } from '@bezel/sdk'
import { connectReader } from './devnet.mjs'

const { values } = parseArgs({
  options: {
    trader: { type: 'string', default: 'trader-1' },
    to: { type: 'string', default: join(process.env.BEZEL_DATA ?? 'var', 'portfolio') },
    // Fills are read page by page; the service returns up to 500 at once.
    'page-size': { type: 'string', default: '500' },
  },
})

const { account } = await connectReader(values.trader, 'portfolio export')
const fills = await Array.fromAsync(account.allFills({ pageSize: Number(values['page-size']) }))
const [positions, orders] = await Promise.all([account.positions(), account.openOrders()])

await mkdir(values.to, { recursive: true })
for (const [name, text] of Object.entries(csvOfBooks({ fills, positions, orders }))) await save(name, text)

// What went in and did not come out is in open positions or was lost. The difference is 0 to the last digit, unless
// something was executed between the reads.
for (const { collateralSymbol, netPnl, difference } of addUpBooks(fills, positions)) {
  console.log(
    `${collateralSymbol}: net ${netPnl}${difference === '0' ? ', the books balance' : `, off by ${difference}`}`,
  )
}
const unknown = fills.filter(({ netPnl }) => netPnl === null).length
if (unknown > 0) console.log(`${unknown} fills are from before amounts were kept: their positions do not add up`)

/** Writes a temporary file and renames it, so that nobody reads half a file. */
async function save(name, text) {
  const path = join(values.to, name)
  await writeFile(`${path}.part`, text)
  await rename(`${path}.part`, path)
  console.log(path)
}
