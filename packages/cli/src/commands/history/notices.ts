import { BezelApiError, type BezelClient, type Notification } from '@bezel/sdk'
import { readWhole } from '../../arguments/readers.ts'
import { UsageError } from '../../errors/cliError.ts'
import { formatFields, showList, type Column } from '../../output/formatTable.ts'
import { dateAndTime } from '../../output/text.ts'
import type { Command } from '../command.ts'
import { refuseOperand } from '../endAll.ts'

/** The table of `bezel notices`. */
const NOTICE_COLUMNS: readonly Column<Notification>[] = [
  { title: 'ID', cell: ({ id }) => String(id) },
  { title: 'TIME', cell: ({ createdAt }) => dateAndTime(createdAt) },
  {
    title: 'SEVERITY',
    cell: ({ severity }) => severity,
    paint: ({ severity }, style) => ({ info: style.dim, warning: style.warn, critical: style.bad })[severity],
  },
  { title: 'TITLE', cell: ({ title }) => title },
  { title: 'MESSAGE', cell: ({ message }) => message, drop: 1 },
]

/** `bezel notices`. */
export const noticesCommand: Command = {
  name: 'notices',
  summary: 'lists what the trader should know, on all chains: fills, timeouts, liquidations, agents, pauses',
  operands: [],
  options: {},
  examples: ['notices', 'notices --json'],
  async run({ output, environment }) {
    const client = await environment.readingClient()
    const rows = await client.notifications.list()
    const account = environment.labelOf(await client.trader())
    showList(output, { rows, columns: NOTICE_COLUMNS, none: 'There are no notices.', account })
  },
}

/** `bezel notices dismiss`. */
export const dismissNoticeCommand: Command = {
  name: 'notices dismiss',
  summary: 'takes notices off the list for good',
  operands: [
    { name: 'ID', what: 'id of a notice, from bezel notices; none with --all', isOptional: true, isMany: true },
  ],
  options: { all: { type: 'boolean', what: 'dismiss all that are listed now' } },
  examples: ['notices dismiss 42 43', 'notices dismiss --all'],
  async run({ args, output, environment }) {
    const isAll = args.flag('all')
    if (isAll) refuseOperand(args)
    else if (args.operands.length === 0) throw new UsageError('Which notice? Give its id, or --all.')
    const named = args.operands.map((text) => readWhole(text, 'ID', { min: 1, max: Number.MAX_SAFE_INTEGER }))
    const client = await environment.readingClient()
    const ids = isAll ? (await client.notifications.list()).map(({ id }) => id) : named
    for (const id of ids) await dismiss(client, id)
    const account = environment.labelOf(await client.trader())
    output.answer({ dismissed: ids }, () =>
      formatFields(
        [
          ['Dismissed', ids.length === 0 ? 'none: there are no notices' : ids.join(', ')],
          ['Account', account],
        ],
        output,
      ),
    )
  },
}

/** Dismisses a notice. Throws a sentence for one that is not there. */
async function dismiss({ notifications }: BezelClient, id: number): Promise<void> {
  try {
    await notifications.dismiss(id)
  } catch (error) {
    const isUnknown = error instanceof BezelApiError && error.code === 'VALIDATION_ERROR'
    throw isUnknown ? new UsageError(`There is no notice ${id}. \`bezel notices\` lists them.`) : error
  }
}
