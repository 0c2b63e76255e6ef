import { readDecimal, readId } from '../arguments/readers.ts'
import type { Command } from './command.ts'
import { EXPECT_OPTION, followOrder, verifyOptionsOf, WAIT_OPTIONS } from './followOrder.ts'

/** `bezel close`. */
export const closeCommand: Command = {
  name: 'close',
  summary: 'closes a position, or a part of it, at the market',
  operands: [{ name: 'POSITION', what: 'id of the position, from bezel positions' }],
  options: {
    size: { type: 'string', value: 'SIZE', what: 'size to close (default: all of it)' },
    slippage: { type: 'string', value: 'PERCENT', what: 'how far the price may move against you (default: 1)' },
    ...EXPECT_OPTION,
    ...WAIT_OPTIONS,
  },
  examples: ['close 3', 'close 3 --size 0.01'],
  async run(context) {
    const { args } = context
    const id = readId(args.operands[0]!, 'POSITION')
    const names = ['size', 'slippage'].filter((name) => args.text(name) !== undefined)
    const request = Object.fromEntries(names.map((name) => [name, readDecimal(args.text(name)!, `--${name}`)]))
    const client = await context.environment.tradingClient()
    context.interruption.leaves(() => 'Stopped. The close may have been sent already: look with bezel positions.')
    context.output.progress(`Closing position ${id}`)
    await followOrder(context, await client.positions.close(id, request, verifyOptionsOf(args)), ['filled'])
  },
}
