import { BezelApiError } from '@bezel/sdk'
import { UsageError } from '../../errors/cliError.ts'
import { formatFields } from '../../output/formatTable.ts'
import type { Command } from '../command.ts'

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
