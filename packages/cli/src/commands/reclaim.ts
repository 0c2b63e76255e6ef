import { readId } from '../arguments/readers.ts'
import { formatFields } from '../output/formatTable.ts'
import type { Command } from './command.ts'
import { confirm, YES_OPTION } from './confirm.ts'

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
