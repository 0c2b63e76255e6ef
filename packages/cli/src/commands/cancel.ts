import type { Command } from './command.ts'
import { followOrder, WAIT_OPTIONS } from './followOrder.ts'
import { readId } from '../arguments/readers.ts'

/** `bezel cancel`. */
export const cancelCommand: Command = {
  name: 'cancel',
  summary: 'cancels an open order, or reclaims the collateral of a timed-out one',
  operands: [{ name: 'ORDER', what: 'id of the order, from bezel orders' }],
  options: WAIT_OPTIONS,
  examples: ['cancel 1042'],
  async run(context) {
    const id = readId(context.args.operands[0]!, 'ORDER')
    const client = await context.environment.tradingClient()
    context.output.progress(`Cancelling order ${id}`)
    // An order that never reached the chain has nothing to cancel there and just expires.
    await followOrder(context, await client.orders.cancel(id), ['canceled', 'expired'])
  },
}
