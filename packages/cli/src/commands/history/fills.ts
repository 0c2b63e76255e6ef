import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import {
  addUpBooks,
  decimal,
  type CollateralBooks,
  type FillAction,
  type FillHistoryEntry,
  csvOfBooks,
} from '@bezel/sdk'
import { readWhole } from '../../arguments/readers.ts'
import type { Output } from '../../output/createOutput.ts'
import { showList, type Column, formatFields } from '../../output/formatTable.ts'
import { dateAndTime, paintSide, plainText, shortAmount, shortPrice, shortSize } from '../../output/text.ts'
import { UsageError } from '../../errors/cliError.ts'
import type { Command } from '../command.ts'

/** Entries that the service returns at once. */
const MAX_PAGE = 500

const DEFAULT_PAGE = '20'

const DEFAULT_FOLDER = 'bezel-books'

/** The table of `bezel fills`. */
const FILL_COLUMNS: readonly Column<FillHistoryEntry>[] = [
  { title: 'TIME', cell: ({ timestamp }) => dateAndTime(timestamp) },
  { title: 'MARKET', cell: ({ market }) => market ?? '-' },
  { title: 'ACTION', cell: ({ action }) => actionWords(action) },
  { title: 'SIDE', cell: ({ side }) => side, paint: paintSide, drop: 2 },
  { title: 'SIZE', cell: ({ size }) => shortSize(size), isNumber: true, drop: 1 },
  { title: 'PRICE', cell: ({ price }) => (price === '0' ? '-' : shortPrice(price)), isNumber: true, drop: 1 },
  { title: 'PNL', cell: ({ pnl }) => shortAmount(pnl), isNumber: true, drop: 1 },
  { title: 'FEE', cell: ({ feeCollateral }) => amount(feeCollateral), isNumber: true, drop: 3 },
  { title: 'FUNDING', cell: ({ fundingFee }) => amount(fundingFee), isNumber: true, drop: 4 },
  { title: 'BORROWING', cell: ({ borrowingFee }) => amount(borrowingFee), isNumber: true, drop: 4 },
  { title: 'FORFEITED', cell: ({ forfeited }) => amount(forfeited), isNumber: true, drop: 5 },
  {
    title: 'NET',
    cell: ({ netPnl, collateralSymbol }) => (netPnl === null ? '-' : `${amount(netPnl)} ${collateralSymbol ?? ''}`),
    isNumber: true,
    paint: ({ netPnl }, style) => (netPnl?.startsWith('-') === true ? style.bad : style.good),
  },
  { title: 'POSITION', cell: ({ positionId }) => positionId, isNumber: true, drop: 6 },
  { title: 'ORDER', cell: ({ orderId }) => orderId ?? '', isNumber: true, drop: 6 },
]

/** `bezel fills`. */
export const fillsCommand: Command = {
  name: 'fills',
  summary: 'lists what was executed and what it cost, and adds it up',
  operands: [],
  options: {
    limit: { type: 'string', value: 'N', what: `number of entries, newest first (default: ${DEFAULT_PAGE})` },
    all: { type: 'boolean', what: 'the whole history instead, and whether the books balance' },
  },
  examples: ['fills', 'fills --all --json'],
  async run({ args, output, environment }) {
    const limit = readWhole(args.text('limit') ?? DEFAULT_PAGE, '--limit', { min: 1, max: MAX_PAGE })
    const { account, trader } = await environment.readingClient()
    const isAll = args.flag('all')
    const rows = isAll
      ? await Array.fromAsync(account.allFills({ pageSize: MAX_PAGE }))
      : (await account.fills({ limit })).data
    const owner = environment.labelOf(await trader())
    showList(output, { rows, columns: FILL_COLUMNS, none: 'Nothing was executed.', account: owner })
    tellSums(output, rows)
    if (isAll) tellBooks(output, addUpBooks(rows, await account.positions()))
  },
}

/** `bezel export`. */
export const exportCommand: Command = {
  name: 'export',
  summary: 'writes fills, positions, open orders and the books that they add up to as CSV files',
  operands: [{ name: 'FOLDER', what: `folder to write to (default: ${DEFAULT_FOLDER})`, isOptional: true }],
  options: {},
  examples: ['export', 'export books/november'],
  async run({ args, output, environment }) {
    const folder = resolve(args.operands[0] ?? DEFAULT_FOLDER)
    const { account, trader } = await environment.readingClient()
    const fills = await Array.fromAsync(account.allFills({ pageSize: MAX_PAGE }))
    const [positions, orders] = await Promise.all([account.positions(), account.openOrders()])
    const files = csvOfBooks({ fills, positions, orders })
    save(folder, files)
    const books = addUpBooks(fills, positions)
    const address = await trader()
    output.answer({ trader: address, folder, files: Object.keys(files), books }, () =>
      formatFields(
        [
          ['Folder', folder],
          ['Files', Object.keys(files).join(', ')],
          ['Entries', `${fills.length} fills, ${positions.length} positions, ${orders.length} orders`],
          ['Account', environment.labelOf(address)],
        ],
        output,
      ),
    )
    tellBooks(output, books)
  },
}

/** Writes files, each under another name first, so that nobody reads half of one. Those of an earlier export go. */
function save(folder: string, files: Readonly<Record<string, string>>): void {
  try {
    mkdirSync(folder, { recursive: true })
    for (const [name, text] of Object.entries(files)) {
      const path = join(folder, name)
      writeFileSync(`${path}.part`, text)
      renameSync(`${path}.part`, path)
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new UsageError(`${folder} can't be written (${code}). Name another folder.`)
  }
}

/** Prints what the entries add up to, in each collateral. */
function tellSums(output: Output, rows: readonly FillHistoryEntry[]): void {
  const told = rows.filter(({ netPnl }) => netPnl !== null)
  for (const { collateralSymbol, entries, netPnl, feeCollateral, fundingFee, borrowingFee } of addUpBooks(told, [])) {
    const fees = decimal.add(feeCollateral, decimal.add(fundingFee, borrowingFee))
    const count = `${entries} ${entries === 1 ? 'entry' : 'entries'}`
    output.note(plainText(`Net of ${count}: ${netPnl} ${collateralSymbol}, fees with funding and borrowing ${fees}`))
  }
  const unknown = rows.length - told.length
  if (unknown > 0) output.note(`Without amounts, from before they were kept: ${unknown}`)
}

/** Prints the books of each collateral: what went in and did not come out is in open positions, or was lost. */
function tellBooks(output: Output, books: readonly CollateralBooks[]): void {
  for (const { collateralSymbol, deposit, payout, inPositions, netPnl, difference } of books) {
    const change = netPnl.startsWith('-') ? `+ ${netPnl.slice(1)} lost` : `- ${netPnl} earned`
    const verdict = difference === '0' ? 'they balance' : `off by ${difference}`
    const sums = `deposits ${deposit} - payouts ${payout} = ${inPositions} in positions ${change}`
    output.note(plainText(`Books in ${collateralSymbol}: ${sums}: ${verdict}`))
  }
}

function amount(text: string | null): string {
  return text === null ? '-' : shortAmount(text)
}

/** Actions in the words of a trader. A limit is also a stop that opens. */
const ACTION_WORDS: Readonly<Record<string, string | undefined>> = {
  TradeOpenedMarket: 'opened at market',
  TradeOpenedLimit: 'opened by trigger',
  TradeClosedMarket: 'closed at market',
  TradeClosedLIQ: 'liquidated',
  TradeClosedSL: 'stop loss hit',
  TradeClosedTP: 'take profit hit',
  TradeLeverageUpdate: 'leverage changed',
  TradePosSizeIncrease: 'increased',
  TradePosSizeDecrease: 'partly closed',
  TradeOpenRefused: 'open refused',
  TradeUpdateRefused: 'close or change refused',
} satisfies Record<FillAction, string>

/** Returns an action in words; one that a newer service knows stays as it is. */
function actionWords(action: string): string {
  return ACTION_WORDS[action] ?? action
}
