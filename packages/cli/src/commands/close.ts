import type { ClosePositionRequest } from '@bezel/sdk'
import type { CommandArguments, OptionTable } from '../arguments/readOptions.ts'
import { readDecimal, readId } from '../arguments/readers.ts'
import { UsageError } from '../errors/cliError.ts'
import { orderPreviewLines } from '../output/previewLines.ts'
import type { Command, CommandContext } from './command.ts'
import { confirm, WAIT_OPTIONS } from './confirm.ts'
import { endAll, MARKET_OPTION, refuseOperand, SLIPPAGE_OPTION } from './endAll.ts'
import { EXPECT_OPTION, followOrder, verifyOptionsOf } from './followOrder.ts'

/** The terms of a close. */
export const CLOSE_OPTIONS = {
  size: { type: 'string', value: 'SIZE', what: 'size to close (default: all of it)' },
  ...SLIPPAGE_OPTION,
} as const satisfies OptionTable

/** `bezel close`. */
export const closeCommand: Command = {
  name: 'close',
  summary: 'closes a position, or a part of it, at the market; with --all every position',
  operands: [{ name: 'POSITION', what: 'id of the position, from bezel positions; none with --all', isOptional: true }],
  options: {
    all: { type: 'boolean', what: 'close all positions' },
    ...MARKET_OPTION,
    ...CLOSE_OPTIONS,
    ...EXPECT_OPTION,
    ...WAIT_OPTIONS,
  },
  examples: ['close 3', 'close 3 --size 0.01', 'close --all --slippage 2'],
  async run(context) {
    const { args } = context
    if (args.flag('all')) return closeAll(context)
    const [operand] = args.operands
    if (operand === undefined) throw new UsageError('Which position? Give its id, or --all.')
    if (args.text('market') !== undefined) throw new UsageError('--market goes with --all: a position has its own.')
    const id = readId(operand, 'POSITION')
    const request = closeRequestOf(args)
    const client = await context.environment.tradingClient()
    await confirm(context, `Close position ${id}`, async () =>
      orderPreviewLines(await client.preview.close(id, request), context.output),
    )
    context.interruption.leaves(() => 'Stopped. The close may have been sent already: look with `bezel positions`')
    context.output.progress(`Closing position ${id}`)
    await followOrder(context, await client.positions.close(id, request, verifyOptionsOf(args)))
  },
}

/** Returns the close that a command line asks for. */
export function closeRequestOf(args: CommandArguments): ClosePositionRequest {
  const names = ['size', 'slippage'].filter((name) => args.text(name) !== undefined)
  return Object.fromEntries(names.map((name) => [name, readDecimal(args.text(name)!, `--${name}`)]))
}

async function closeAll(context: CommandContext): Promise<void> {
  const { args } = context
  refuseOperand(args)
  const single = ['size', 'expect'].find((name) => args.text(name) !== undefined)
  if (single !== undefined) throw new UsageError(`--${single} is for one position: leave it away, or leave --all away.`)
  const what = { doing: 'Closing all positions', ends: ['positions'] } as const
  await endAll(context, what, (client, of) => client.positions.closeAll(of))
}
