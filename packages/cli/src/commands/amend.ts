import type { Order } from '@bezel/sdk'
import { readDecimal, readId, readPrice } from '../arguments/readers.ts'
import { UsageError } from '../errors/cliError.ts'
import type { Command } from './command.ts'
import { EXPECT_OPTION, followOrder, verifyOptionsOf, WAIT_OPTIONS } from './followOrder.ts'

const READERS = { price: readDecimal, size: readDecimal, tp: readPrice, sl: readPrice, slippage: readDecimal } as const

const TERMS = ['price', 'size', 'tp', 'sl', 'slippage'] as const

/** `bezel amend`. */
export const amendCommand: Command = {
  name: 'amend',
  summary: 'changes a resting order, which keeps its id',
  operands: [{ name: 'ORDER', what: 'id of the order, from bezel orders' }],
  options: {
    price: { type: 'string', value: 'PRICE', what: 'new price; the size stays, so the collateral is taken anew' },
    size: { type: 'string', value: 'SIZE', what: 'new size' },
    tp: { type: 'string', value: 'PRICE', what: 'take profit price; 0 removes it' },
    sl: { type: 'string', value: 'PRICE', what: 'stop loss price; 0 removes it' },
    slippage: { type: 'string', value: 'PERCENT', what: 'how far the price may move against you' },
    ...EXPECT_OPTION,
    ...WAIT_OPTIONS,
  },
  examples: ['amend 1042 --price 59500', 'amend 1042 --size 0.05 --sl 56000'],
  async run(context) {
    const { args } = context
    const id = readId(args.operands[0]!, 'ORDER')
    const given = TERMS.flatMap((name) => {
      const text = args.text(name)
      return text === undefined ? [] : [[name, READERS[name](text, `--${name}`)] as const]
    })
    if (given.length === 0) throw new UsageError('What is to change? For instance --price 59500.')
    const client = await context.environment.tradingClient()
    context.interruption.leaves(() => 'Stopped. The change may have been sent already: look with bezel orders.')
    context.output.progress(`Changing order ${id}`)
    const before = await client.orders.get(id)
    const tracked = await client.orders.update(id, Object.fromEntries(given), verifyOptionsOf(args))
    // A read shows what is in force: the old values until the transaction is mined. The contracts may move a stop.
    const kept = tracked.warnings.find(({ code }) => code === 'sl_clamped')?.value
    const isInForce = (order: Order): boolean =>
      given.every(
        ([name, value]) =>
          [value, name === 'sl' ? kept : undefined].includes(order[name] ?? '0') || order[name] !== before[name],
      )
    await followOrder(context, tracked, ['open', 'filled'], isInForce)
  },
}
