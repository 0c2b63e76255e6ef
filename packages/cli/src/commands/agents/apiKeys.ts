import { UsageError } from '../../errors/cliError.ts'
import { formatFields } from '../../output/formatTable.ts'
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
