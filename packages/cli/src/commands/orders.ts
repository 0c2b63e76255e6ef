import { readWhole } from '../arguments/readWhole.ts'
import { ORDER_COLUMNS } from '../output/orderColumns.ts'
import type { Command } from './command.ts'
import { showList } from './showList.ts'

const MAX_PAGE = 500
const DEFAULT_PAGE = '20'

/** `bezel orders`. */
export const orders: Command = {
  name: 'orders',
  summary: 'lists the open orders, or the last ones of all',
  operands: [],
  options: {
    history: { type: 'boolean', what: 'also those that have ended, newest first' },
    limit: { type: 'string', value: 'N', what: `how many of the history (${DEFAULT_PAGE})` },
  },
  examples: ['orders', 'orders --history --limit 5 --json'],
  async run({ args, output, environment }) {
    const limit = readWhole(args.text('limit') ?? DEFAULT_PAGE, '--limit', { min: 1, max: MAX_PAGE })
    const { account } = await environment.readingClient()
    const list = args.flag('history') ? (await account.orderHistory({ limit })).data : await account.openOrders()
    showList(output, list, ORDER_COLUMNS, 'There are no orders.')
  },
}
