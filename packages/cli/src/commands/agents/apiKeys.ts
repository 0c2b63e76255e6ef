import { type ApiKey, BezelApiError } from '@bezel/sdk'
import { UsageError } from '../../errors/cliError.ts'
import { formatFields, showList, type Column } from '../../output/formatTable.ts'
import { dateAndTime } from '../../output/text.ts'
import type { Command } from '../command.ts'

/** `bezel key issue`. */
export const keyIssueCommand: Command = {
  name: 'key issue',
  summary: "issues a read-only key for the trader's account, shown once",
  operands: [],
  options: {
    label: {
      type: 'string',
      value: 'LABEL',
      what: 'name of the key; issuing again under it replaces the key (default: cli)',
    },
  },
  examples: ['key issue --label dashboard'],
  async run({ args, output, environment }) {
    const label = args.text('label') ?? 'cli'
    if (label.length > 64) throw new UsageError(`--label has ${label.length} characters, and 64 are allowed.`)
    const trader = await environment.trader()
    const client = environment.traderClient()
    const issued = await client.agents.issueApiKey({ trader, label })
    output.answer(issued, () =>
      formatFields(
        [
          ['Key', issued.apiKey],
          ['Label', issued.label],
          ['Trader', issued.trader],
        ],
        output,
      ),
    )
    output.note(
      'It can read the account and nothing else, and it is not shown again. Use it as BEZEL_API_KEY, with the trader as BEZEL_TRADER.',
    )
  },
}

/** The table of `bezel key list`. */
const KEY_COLUMNS: readonly Column<ApiKey>[] = [
  { title: 'LABEL', cell: ({ label }) => label },
  { title: 'ISSUED', cell: ({ createdAt }) => dateAndTime(createdAt) },
  { title: 'LAST USED', cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : dateAndTime(lastUsedAt)) },
]

/** `bezel key list`. */
export const keyListCommand: Command = {
  name: 'key list',
  summary: "lists the read-only keys of the trader's account, and when each was last used",
  operands: [],
  options: {},
  examples: ['key list'],
  async run({ output, environment }) {
    const trader = await environment.trader()
    const rows = await environment.traderClient().agents.listApiKeys({ trader })
    const account = environment.labelOf(trader.address)
    showList(output, { rows, columns: KEY_COLUMNS, none: 'There is no key.', account })
  },
}

/** `bezel key revoke`. */
export const keyRevokeCommand: Command = {
  name: 'key revoke',
  summary: "ends a read-only key of the trader's account at once",
  operands: [{ name: 'LABEL', what: 'name of the key, as bezel key list shows it' }],
  options: {},
  examples: ['key revoke dashboard'],
  async run({ args, output, environment }) {
    const [label = ''] = args.operands
    const trader = await environment.trader()
    const account = environment.labelOf(trader.address)
    try {
      await environment.traderClient().agents.revokeApiKey({ trader, label })
    } catch (error) {
      const isUnknown = error instanceof BezelApiError && error.code === 'NOT_FOUND'
      if (!isUnknown) throw error
      const name = JSON.stringify(label.slice(0, 64))
      throw new UsageError(`${account} has no key with the label ${name}. The labels are listed by \`bezel key list\``)
    }
    output.answer({ label, trader: trader.address }, () =>
      formatFields(
        [
          ['Ended', label],
          ['Trader', account],
        ],
        output,
      ),
    )
  },
}
