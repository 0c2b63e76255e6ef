import { readId } from '../arguments/readers.ts'
import type { OptionTable } from '../arguments/readOptions.ts'
import { orderPreviewLines, positionPreviewLines } from '../output/previewLines.ts'
import { changesOf, SET_OPTIONS } from './set.ts'
import { closeRequestOf, CLOSE_OPTIONS } from './close.ts'
import type { Command, CommandContext } from './command.ts'
import { ORDER_OPERANDS, ORDER_OPTIONS, orderRequestOf, triggerOf } from './order.ts'

const SIMULATE_OPTION = {
  simulate: { type: 'boolean', what: 'simulate the transaction on the latest block too' },
} as const satisfies OptionTable

/** `bezel preview order`. */
export const previewOrderCommand: Command = {
  name: 'preview order',
  summary: 'says what an order would cost and do, without placing it',
  operands: ORDER_OPERANDS,
  options: { ...ORDER_OPTIONS, ...SIMULATE_OPTION },
  examples: ['preview order BTC/USD long 0.02 --leverage 10', 'preview order eth short 1.5 --leverage 5 --limit 4200'],
  async run(context) {
    const request = orderRequestOf(context.args)
    const client = await context.environment.readingClient()
    const preview = await client.preview.order(request, optionsOf(context))
    show(context, preview, await client.trader(), () => orderPreviewLines(preview, context.output, triggerOf(request)))
  },
}

/** `bezel preview close`. */
export const previewCloseCommand: Command = {
  name: 'preview close',
  summary: 'says what closing a position would pay and cost, without closing it',
  operands: [{ name: 'POSITION', what: 'id of the position, from bezel positions' }],
  options: { ...CLOSE_OPTIONS, ...SIMULATE_OPTION },
  examples: ['preview close 3', 'preview close 3 --size 0.01 --simulate'],
  async run(context) {
    const { args, environment, output } = context
    const id = readId(args.operands[0]!, 'POSITION')
    const request = closeRequestOf(args)
    const client = await environment.readingClient()
    const preview = await client.preview.close(id, request, optionsOf(context))
    show(context, preview, await client.trader(), () => orderPreviewLines(preview, output))
  },
}

/** `bezel preview position`. */
export const previewPositionCommand: Command = {
  name: 'preview position',
  summary: 'says what a change of a position would cost and make of it, without making it',
  operands: [{ name: 'POSITION', what: 'id of the position, from bezel positions' }],
  options: { ...SET_OPTIONS, ...SIMULATE_OPTION },
  examples: ['preview position 3 --leverage 5', 'preview position 3 --sl 58000'],
  async run(context) {
    const { args, environment, output } = context
    const id = readId(args.operands[0]!, 'POSITION')
    const changes = changesOf(args)
    const client = await environment.readingClient()
    const preview = await client.preview.position(id, changes, optionsOf(context))
    show(context, preview, await client.trader(), () => positionPreviewLines(preview, output))
  },
}

function optionsOf({ args }: CommandContext): { readonly simulate: boolean } {
  return { simulate: args.flag('simulate') }
}

function show(
  { output, environment }: CommandContext,
  preview: Parameters<typeof orderPreviewLines>[0] | Parameters<typeof positionPreviewLines>[0],
  trader: string,
  lines: () => readonly string[],
): void {
  output.answer(preview, () => [...lines(), '', `Account ${environment.labelOf(trader)}`])
}
