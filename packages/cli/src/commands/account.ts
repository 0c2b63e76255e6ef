import type { Account, Balance } from '@bezel/sdk'
import { formatFields, formatTable, type Column } from '../output/formatTable.ts'
import { shortAmount } from '../output/text.ts'
import type { Command } from './command.ts'

const BALANCE_COLUMNS: readonly Column<Balance>[] = [
  { title: 'TOKEN', cell: ({ collateral }) => collateral },
  { title: 'BALANCE', cell: ({ balance }) => shortAmount(balance), isNumber: true },
  { title: 'ALLOWANCE', cell: ({ allowance }) => shortAmount(allowance), isNumber: true },
]

const AGENT_COLUMNS: readonly Column<Account['agents'][number]>[] = [
  { title: 'AGENT', cell: ({ agent }) => agent },
  { title: 'NAME', cell: ({ name }) => name, drop: 1 },
  { title: 'MAY', cell: ({ scope }) => scope.permissions, drop: 2 },
  {
    title: 'STATUS',
    cell: ({ status }) => status,
    paint: ({ status }, style) => (status === 'active' ? style.good : style.warn),
  },
]

/** `bezel account`. */
export const accountCommand: Command = {
  name: 'account',
  summary: "shows the trader's balances, allowances and agents",
  operands: [],
  options: {},
  examples: ['account', 'account --json'],
  async run({ output, environment }) {
    const client = await environment.readingClient()
    const found = await client.account.get()
    output.answer(found, () => [
      ...formatFields(
        [
          ['Account', environment.labelOf(found.address)],
          ['Chain', client.chain],
          ['Referrer', found.referrer],
        ],
        output,
      ),
      '',
      ...formatTable(found.balances, BALANCE_COLUMNS, output),
      '',
      ...(found.agents.length === 0 ? ['There are no agents.'] : formatTable(found.agents, AGENT_COLUMNS, output)),
    ])
  },
}
