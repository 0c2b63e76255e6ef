import type { Account, Balance } from '@bezel/sdk'
import { formatFields, formatTable, type Column } from '../output/formatTable.ts'
import { shortAmount } from '../output/text.ts'
import { readDecimal } from '../arguments/readers.ts'
import type { Command } from './command.ts'
import { confirm, timeoutMsOf, WAIT_OPTIONS } from './confirm.ts'

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

const POLL_MS = 300

/** `bezel approve`. */
export const approveCommand: Command = {
  name: 'approve',
  summary: "lets the Diamond take up to an amount of a token from the trader's wallet",
  operands: [
    { name: 'TOKEN', what: 'collateral token, for instance USDC' },
    { name: 'AMOUNT', what: 'amount, for instance 500; it replaces the allowance there is' },
  ],
  options: { timeout: WAIT_OPTIONS.timeout, yes: WAIT_OPTIONS.yes },
  examples: ['approve USDC 500'],
  async run(context) {
    const { args, output, environment, interruption } = context
    const [collateral = '', text = ''] = args.operands
    const amount = readDecimal(text, 'AMOUNT')
    const client = environment.traderClient()
    const sender = await environment.traderSender()
    await confirm(context, `Allow the Diamond ${amount} ${collateral}`)
    interruption.leaves(() => 'Stopped. The approval may have been sent already: look with `bezel account`')
    output.progress(`Allowing ${amount} ${collateral}`)
    const txHash = await client.account.approve({
      sender,
      collateral,
      amount,
      timeoutMs: timeoutMsOf(args),
      pollMs: POLL_MS,
    })
    const { address: trader } = sender
    output.answer({ trader, collateral, allowance: amount, txHash }, () =>
      formatFields(
        [
          ['Allowance', `${amount} ${collateral}`],
          ['Transaction', txHash],
          ['Account', environment.labelOf(trader)],
        ],
        output,
      ),
    )
  },
}
