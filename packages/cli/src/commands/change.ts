import { readDecimal, readId, readPrice } from '../arguments/readers.ts'
import { UsageError } from '../errors/cliError.ts'
import { formatFields } from '../output/formatTable.ts'
import { shortPrice, shortSize } from '../output/text.ts'
import type { Command } from './command.ts'
import { confirm, WAIT_OPTIONS } from './confirm.ts'
import { EXPECT_OPTION, followOrder, verifyOptionsOf } from './followOrder.ts'

const READERS = { price: readDecimal, size: readDecimal, tp: readPrice, sl: readPrice, slippage: readDecimal } as const

const TERMS = ['price', 'size', 'tp', 'sl', 'slippage'] as const

/** `bezel change`. */
export const changeCommand: Command = {
  name: 'change',
  aliases: ['amend'],
  summary: 'changes a resting order, which keeps its id',
  operands: [{ name: 'ORDER', what: 'id of the order, from bezel orders; bezel set is for positions' }],
  options: {
    price: { type: 'string', value: 'PRICE', what: 'new price; the size stays, so the collateral is taken anew' },
    size: { type: 'string', value: 'SIZE', what: 'new size' },
    tp: { type: 'string', value: 'PRICE', what: 'take profit price; 0 removes it' },
    sl: { type: 'string', value: 'PRICE', what: 'stop loss price; 0 removes it' },
    slippage: { type: 'string', value: 'PERCENT', what: 'how far the price may move against you' },
    ...EXPECT_OPTION,
    ...WAIT_OPTIONS,
  },
  examples: ['change 1042 --price 59500', 'change 1042 --size 0.05 --sl 56000'],
  async run(context) {
    const { args, output, environment, interruption } = context
    const id = readId(args.operands[0]!, 'ORDER')
    const given = TERMS.flatMap((name) => {
      const text = args.text(name)
      return text === undefined ? [] : [[name, READERS[name](text, `--${name}`)] as const]
    })
    if (given.length === 0) throw new UsageError('What is to change? For instance --price 59500.')
    const client = await environment.tradingClient()
    const before = await client.orders.get(id)
    await confirm(context, `Change order ${id}`, () =>
      formatFields(
        [
          ['Order', `${id} ${before.market} ${before.side} ${shortSize(before.size)} ${before.type}`],
          ...given.map(([name, value]) => [name, `${termOf(before[name])} becomes ${termOf(value)}`] as const),
        ],
        output,
      ),
    )
    interruption.leaves(() => 'Stopped. The change may have been sent already: look with `bezel orders`')
    output.progress(`Changing order ${id}`)
    await followOrder(context, await client.orders.update(id, Object.fromEntries(given), verifyOptionsOf(args)))
  },
}

/** Returns a term of an order for people. A stop that is not set is null or 0. */
function termOf(value: string | null): string {
  return value === null || value === '0' ? 'none' : shortPrice(value)
}
