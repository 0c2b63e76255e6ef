import { readDecimal } from '../arguments/readDecimal.ts'
import type { Command } from './command.ts'
import { followOrder } from './followOrder.ts'
import { readId } from './readId.ts'
import { WAIT_OPTIONS } from './waiting.ts'

/** `bezel close`. */
export const close: Command = {
  name: 'close',
  summary: 'closes a position, or a part of it, at the market',
  operands: [{ name: 'POSITION', what: 'its id, from bezel positions' }],
  options: {
    size: { type: 'string', value: 'SIZE', what: 'how much of it; all of it without' },
    slippage: { type: 'string', value: 'PERCENT', what: 'how far the price may move against you' },
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
    await followOrder(context, await client.positions.close(id, request), ['filled'])
  },
}
