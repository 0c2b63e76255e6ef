import type { AuditLogEntry } from '@bezel/sdk'
import { readWhole } from '../arguments/readers.ts'
import { showList, type Column } from '../output/formatTable.ts'
import { dateAndTime } from '../output/text.ts'
import type { Command } from './command.ts'

const MAX_PAGE = 500

const DEFAULT_PAGE = '20'

/** The table of `bezel audit`. */
const AUDIT_COLUMNS: readonly Column<AuditLogEntry>[] = [
  { title: 'TIME', cell: ({ createdAt }) => dateAndTime(createdAt) },
  { title: 'EVENT', cell: ({ kind }) => kind.replaceAll('_', ' ') },
  { title: 'AGENT', cell: ({ agent }) => agent ?? '-' },
  { title: 'KEY', cell: ({ keyLabel }) => keyLabel ?? '-', drop: 2 },
  { title: 'DETAIL', cell: ({ detail }) => (detail === null ? '' : JSON.stringify(detail)), drop: 1 },
  { title: 'REQUEST', cell: ({ requestId }) => requestId ?? '-', drop: 3 },
]

/** `bezel audit`. */
export const auditCommand: Command = {
  name: 'audit',
  summary: 'lists the changes of rights on the account: agents, keys, delegations, pauses',
  operands: [],
  options: {
    limit: { type: 'string', value: 'N', what: `number of entries, newest first (default: ${DEFAULT_PAGE})` },
  },
  examples: ['audit', 'audit --limit 100 --json'],
  async run({ args, output, environment }) {
    const limit = readWhole(args.text('limit') ?? DEFAULT_PAGE, '--limit', { min: 1, max: MAX_PAGE })
    const { account, trader } = await environment.readingClient()
    const { data: rows } = await account.audit({ limit })
    const owner = environment.labelOf(await trader())
    showList(output, { rows, columns: AUDIT_COLUMNS, none: 'No rights were changed.', account: owner })
  },
}
