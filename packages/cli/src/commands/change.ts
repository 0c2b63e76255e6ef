import type { Position, UpdatePositionRequest } from '@bezel/sdk'
import type { CommandArguments } from '../arguments/readOptions.ts'
import { readDecimal, readId, readPrice } from '../arguments/readers.ts'
import { UsageError } from '../errors/cliError.ts'
import { formatFields } from '../output/formatTable.ts'
import { pendingWords } from '../output/pendingUpdate.ts'
import { shortDecimal, type Style } from '../output/text.ts'
import type { Command } from './command.ts'
import { showWarnings, timeoutMsOf, WAIT_OPTIONS, withWarnings } from './followOrder.ts'

const POLL_MS = 300

/** `bezel change`. */
export const changeCommand: Command = {
  name: 'change',
  summary: 'changes the stops, the leverage or the collateral of a position, and waits until it is done',
  operands: [{ name: 'POSITION', what: 'id of the position, from bezel positions' }],
  options: {
    tp: { type: 'string', value: 'PRICE', what: 'take profit price; 0 removes it' },
    sl: { type: 'string', value: 'PRICE', what: 'stop loss price; 0 removes it' },
    leverage: { type: 'string', value: 'X', what: 'new leverage; the collateral follows, the size stays' },
    add: { type: 'string', value: 'AMOUNT', what: 'collateral to add' },
    remove: { type: 'string', value: 'AMOUNT', what: 'collateral to take out' },
    ...WAIT_OPTIONS,
  },
  examples: ['change 3 --sl 58000 --tp 70000', 'change 3 --leverage 5', 'change 3 --add 50'],
  async run({ args, output, environment, interruption }) {
    const id = readId(args.operands[0]!, 'POSITION')
    const changes = changesOf(args)
    const client = await environment.tradingClient()
    interruption.leaves(() => 'Stopped. The change may have been sent already: look with bezel positions.')
    output.progress(`Changing position ${id}`)
    const sent = await client.positions.update(id, changes)
    showWarnings(output, sent.warnings)
    output.progress(`Position ${id}: waiting`)
    const position = args.flag('no-wait')
      ? sent.position
      : await sent.wait({ timeoutMs: timeoutMsOf(args), pollMs: POLL_MS })
    output.answer(withWarnings({ position, txHash: sent.txHash }, sent.warnings), () =>
      positionFields(position, sent.txHash, environment.labelOf(position.trader), output.style),
    )
  },
}

function changesOf(args: CommandArguments): UpdatePositionRequest {
  const read = (name: string, reader: typeof readDecimal): string | undefined => {
    const text = args.text(name)
    return text === undefined ? undefined : reader(text, `--${name}`)
  }
  const [tp, sl] = [read('tp', readPrice), read('sl', readPrice)]
  const [leverage, add, remove] = [read('leverage', readDecimal), read('add', readDecimal), read('remove', readDecimal)]
  const kinds = [tp !== undefined || sl !== undefined, leverage !== undefined, add !== undefined, remove !== undefined]
  const count = kinds.filter(Boolean).length
  if (count === 0) throw new UsageError('What is to change? For instance --sl 58000, --leverage 5 or --add 50.')
  if (count > 1) throw new UsageError('--tp and --sl, --leverage, --add and --remove are changed one kind at a time.')
  if (leverage !== undefined) return { leverage }
  const amount = add ?? remove
  if (amount !== undefined) return { collateral: { action: add === undefined ? 'remove' : 'add', amount } }
  return { ...(tp === undefined ? {} : { tp }), ...(sl === undefined ? {} : { sl }) }
}

function positionFields(position: Position, txHash: string, account: string, style: Style): string[] {
  const { id, market, side, size, leverage, collateral, collateralSymbol, tp, sl, pendingUpdate } = position
  return formatFields(
    [
      ['Position', `${id} ${market} ${side} ${shortDecimal(size, 8)} at ${leverage}x`],
      ['Collateral', `${shortDecimal(collateral, 6)} ${collateralSymbol}`],
      ['Take profit', tp === '0' ? 'none' : tp],
      ['Stop loss', sl === '0' ? 'none' : sl],
      ['Pending', pendingUpdate === null ? null : pendingWords(pendingUpdate, collateralSymbol)],
      ['Transaction', txHash],
      ['Account', account],
    ],
    style,
  )
}
