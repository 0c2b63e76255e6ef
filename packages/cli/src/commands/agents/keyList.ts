import type { ApiKey } from '@bezel/sdk'
import { showList, type Column } from '../../output/formatTable.ts'
import { dateAndTime } from '../../output/text.ts'
import type { Command } from '../command.ts'

/** The table of `bezel key list`. */
const KEY_COLUMNS: readonly Column<ApiKey>[] = [
  { title: 'LABEL', cell: ({ label }) => label },
  { title: 'ISSUED', cell: ({ createdAt }) => dateAndTime(createdAt) },
  { title: 'LAST USED', cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : dateAndTime(lastUsedAt)) },
]

/** `bezel key list`. */
export const keyListCommand: Command = {
  name: 'key list',
  summary: "lists the read-only keys of the trader's account, and when each was last used",
  operands: [],
  options: {},
  examples: ['key list'],
  async run({ output, environment }) {
    const trader = await environment.trader()
    const rows = await environment.traderClient().agents.listApiKeys({ trader })
    const account = environment.labelOf(trader.address)
    showList(output, { rows, columns: KEY_COLUMNS, none: 'There is no key.', account })
  },
}
