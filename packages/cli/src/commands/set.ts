import type { Position, UpdatePositionRequest } from '@bezel/sdk'
import type { CommandArguments, OptionTable } from '../arguments/readOptions.ts'
import { readDecimal, readId, readPrice } from '../arguments/readers.ts'
import { UsageError } from '../errors/cliError.ts'
import { formatFields, type PageShape } from '../output/formatTable.ts'
import { pendingWords, shortAmount, shortLeverage, shortPrice, shortSize } from '../output/text.ts'
import { positionPreviewLines } from '../output/previewLines.ts'
import type { Command } from './command.ts'
import { confirm, timeoutMsOf, WAIT_OPTIONS, YES_OPTION } from './confirm.ts'
import { showWarnings, withWarnings } from './followOrder.ts'

const POLL_MS = 300

/** The changes of a position. */
export const SET_OPTIONS = {
  tp: { type: 'string', value: 'PRICE', what: 'take profit price; 0 removes it' },
  sl: { type: 'string', value: 'PRICE', what: 'stop loss price; 0 removes it' },
  leverage: { type: 'string', value: 'X', what: 'new leverage; the collateral follows, the size stays' },
  add: { type: 'string', value: 'AMOUNT', what: 'collateral to add' },
  remove: { type: 'string', value: 'AMOUNT', what: 'collateral to take out' },
} as const satisfies OptionTable

/** `bezel set`. */
export const setCommand: Command = {
  name: 'set',
  summary: 'sets the stops, the leverage or the collateral of a position, and waits until it is done',
  operands: [{ name: 'POSITION', what: 'id of the position, from bezel positions' }],
  options: { ...SET_OPTIONS, ...WAIT_OPTIONS },
  examples: ['set 3 --sl 58000 --tp 70000', 'set 3 --leverage 5', 'set 3 --add 50'],
  async run(context) {
    const { args, output, environment, interruption } = context
    const id = readId(args.operands[0]!, 'POSITION')
    const changes = changesOf(args)
    const client = await environment.tradingClient()
    await confirm(context, `Change position ${id}`, async () =>
      positionPreviewLines(await client.preview.position(id, changes), output),
    )
    interruption.leaves(() => 'Stopped. The change may have been sent already: look with `bezel positions`')
    output.progress(`Changing position ${id}`)
    const sent = await client.positions.update(id, changes)
    showWarnings(output, sent.warnings)
    output.progress(`Position ${id}: waiting`)
    const position = args.flag('no-wait')
      ? sent.position
      : await sent.wait({ timeoutMs: timeoutMsOf(args), pollMs: POLL_MS })
    output.answer(withWarnings({ position, txHash: sent.txHash }, sent.warnings), () =>
      positionFields(position, sent.txHash, environment.labelOf(position.trader), output),
    )
  },
}

/** Returns the change that a command line asks for. */
export function changesOf(args: CommandArguments): UpdatePositionRequest {
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

function positionFields(position: Position, txHash: string, account: string, shape: PageShape): string[] {
  const { id, market, side, size, leverage, collateral, collateralSymbol, tp, sl, pendingUpdate } = position
  return formatFields(
    [
      ['Position', `${id} ${market} ${side} ${shortSize(size)} at ${shortLeverage(leverage)}`],
      ['Collateral', `${shortAmount(collateral)} ${collateralSymbol}`],
      ['Take profit', tp === '0' ? 'none' : shortPrice(tp)],
      ['Stop loss', sl === '0' ? 'none' : shortPrice(sl)],
      ['Pending', pendingUpdate === null ? null : pendingWords(pendingUpdate, collateralSymbol)],
      ['Transaction', txHash],
      ['Account', account],
    ],
    shape,
  )
}

/** `bezel reclaim`. */
export const reclaimCommand: Command = {
  name: 'reclaim',
  summary: 'takes back a change of a position that the oracle has not answered in time',
  operands: [{ name: 'POSITION', what: 'id of the position, from bezel positions' }],
  options: YES_OPTION,
  examples: ['reclaim 3'],
  async run(context) {
    const { args, output, environment, interruption } = context
    const id = readId(args.operands[0]!, 'POSITION')
    const client = await environment.tradingClient()
    await confirm(context, `Reclaim the change of position ${id}`)
    interruption.leaves(() => 'Stopped. The reclaim may have been sent already: look with `bezel positions`')
    output.progress(`Reclaiming the change of position ${id}`)
    const { position, txHash } = await client.positions.cancelUpdate(id)
    output.answer({ position, txHash }, () =>
      formatFields(
        [
          ['Position', id],
          ['Transaction', txHash],
          ['Account', environment.labelOf(position.trader)],
        ],
        output,
      ),
    )
  },
}
