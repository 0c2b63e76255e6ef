import { UsageError } from '../errors/cliError.ts'
import type { Command } from './command.ts'
import { confirm, WAIT_OPTIONS } from './confirm.ts'
import { endAll, MARKET_OPTION, refuseOperand } from './endAll.ts'
import { followOrder } from './followOrder.ts'
import { readId } from '../arguments/readers.ts'

/** `bezel cancel`. */
export const cancelCommand: Command = {
  name: 'cancel',
  summary: 'cancels an open order, or reclaims the collateral of a timed-out one; with --all every order',
  operands: [{ name: 'ORDER', what: 'id of the order, from bezel orders; none with --all', isOptional: true }],
  options: {
    all: { type: 'boolean', what: 'cancel all orders' },
    ...MARKET_OPTION,
    ...WAIT_OPTIONS,
  },
  examples: ['cancel 1042', 'cancel --all --market BTC/USD'],
  async run(context) {
    const { args } = context
    if (args.flag('all')) {
      refuseOperand(args)
      const what = { doing: 'Cancelling all orders', ends: ['orders'] } as const
      return endAll(context, what, (client, of) => client.orders.cancelAll(of))
    }
    const [operand] = args.operands
    if (operand === undefined) throw new UsageError('Which order? Give its id, or --all.')
    if (args.text('market') !== undefined)
      throw new UsageError('--market goes with --all: an order has its own market.')
    const id = readId(operand, 'ORDER')
    const client = await context.environment.tradingClient()
    await confirm(context, `Cancel order ${id}`)
    context.output.progress(`Cancelling order ${id}`)
    await followOrder(context, await client.orders.cancel(id))
  },
}
