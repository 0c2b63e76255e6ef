import type { AuditLogEntry } from '@bezel/sdk'
import { readWhole } from '../../arguments/readers.ts'
import { showList, type Column } from '../../output/formatTable.ts'
import { dateAndTime, shortLeverage, shortValue } from '../../output/text.ts'
import type { Command } from '../command.ts'

const MAX_PAGE = 500

const DEFAULT_PAGE = '20'

/** The table of `bezel audit`. */
const AUDIT_COLUMNS: readonly Column<AuditLogEntry>[] = [
  { title: 'TIME', cell: ({ createdAt }) => dateAndTime(createdAt) },
  { title: 'EVENT', cell: ({ kind }) => kind.replaceAll('_', ' ') },
  { title: 'AGENT', cell: ({ agent }) => agent ?? '-' },
  { title: 'KEY', cell: ({ keyLabel }) => keyLabel ?? '-', drop: 2 },
  { title: 'DETAIL', cell: ({ detail }) => (detail === null ? '' : detailWords(detail)), drop: 1 },
  { title: 'REQUEST', cell: ({ requestId }) => requestId ?? '-', drop: 3 },
]

/** Details in the words that `bezel agent status` has for them, by their names in the interface. */
const WORDS: Readonly<Record<string, (value: unknown) => string>> = {
  mode: (mode) => (mode === 'self' ? 'sends its own transactions' : 'sends through the relayer'),
  markets: (markets) => (Array.isArray(markets) ? `markets ${markets.join(' ')}` : `${String(markets)} markets`),
  maxLeverage: (leverage) => `leverage up to ${shortLeverage(String(leverage))}`,
  dailySpendCapUsd: (cap) => `daily cap ${shortValue(String(cap))} USD`,
  expiresAt: (ms) => `expires ${dateAndTime(Number(ms))} UTC`,
  permissions: (permissions) => (permissions === 'read' ? 'may only read' : 'may trade'),
}

/** Returns details in words, `name bot, may trade, all markets`. Limits that are not set say nothing. */
export function detailWords(detail: object): string {
  const words = Object.entries(detail).flatMap(([name, value]: [string, unknown]) => {
    if (value === null || value === '') return []
    if (typeof value === 'object' && !Array.isArray(value)) return [detailWords(value)]
    return [Object.hasOwn(WORDS, name) ? WORDS[name]!(value) : `${name} ${String(value)}`]
  })
  return words.join(', ')
}

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
