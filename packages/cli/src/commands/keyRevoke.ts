import { formatFields } from '../output/formatTable.ts'
import type { Command } from './command.ts'

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
    await environment.traderClient().agents.revokeApiKey({ trader, label })
    output.answer({ label, trader: trader.address }, () =>
      formatFields(
        [
          ['Ended', label],
          ['Trader', environment.labelOf(trader.address)],
        ],
        output.style,
      ),
    )
  },
}
