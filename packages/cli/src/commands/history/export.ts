import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { addUpBooks, csvOfBooks } from '@bezel/sdk'
import { UsageError } from '../../errors/cliError.ts'
import { formatFields } from '../../output/formatTable.ts'
import type { Command } from '../command.ts'
import { MAX_PAGE, tellBooks } from './fills.ts'

const DEFAULT_FOLDER = 'bezel-books'

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
