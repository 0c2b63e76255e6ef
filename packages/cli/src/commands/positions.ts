import { POSITION_COLUMNS } from '../output/positionColumns.ts'
import type { Command } from './command.ts'
import { showList } from './showList.ts'

/** `bezel positions`. */
export const positions: Command = {
  name: 'positions',
  summary: 'lists the open positions with their profit',
  operands: [],
  options: {},
  examples: ['positions', 'positions --json'],
  async run({ output, environment }) {
    const client = await environment.readingClient()
    showList(output, await client.account.positions(), POSITION_COLUMNS, 'There are no open positions.')
  },
}
