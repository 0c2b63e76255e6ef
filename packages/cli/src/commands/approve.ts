import { readDecimal } from '../arguments/readers.ts'
import { formatFields } from '../output/formatTable.ts'
import type { Command } from './command.ts'
import { confirm, timeoutMsOf, WAIT_OPTIONS } from './confirm.ts'

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
