import { readAddress } from '../arguments/readAddress.ts'
import { formatFields } from '../output/formatFields.ts'
import type { Command } from './command.ts'

/** `bezel agent revoke`. */
export const agentRevoke: Command = {
  name: 'agent revoke',
  summary: 'ends an agent at once, here and on the chain',
  operands: [{ name: 'ADDRESS', what: 'of the agent; your own without', isOptional: true }],
  options: { 'keep-delegate': { type: 'boolean', what: 'leave the chain as it is; nothing is sent' } },
  examples: ['agent revoke', 'agent revoke 0x00000000000000000000000000000000000000A1'],
  async run({ args, output, environment, interruption }) {
    const [text] = args.operands
    const agent = text === undefined ? (await environment.agent()).address : readAddress(text, 'ADDRESS')
    const trader = await environment.trader()
    const client = await environment.traderClient()
    output.progress('Revoking the agent')
    const { revocationTx } = await client.agents.revoke({ trader, agent })
    interruption.leaves(() => 'Stopped. The service has revoked the agent; the chain may still have it as delegate.')
    const isSent = revocationTx !== null && !args.flag('keep-delegate')
    const txHash = isSent
      ? await client.agents.undelegate({ sender: await environment.traderSender(), revocationTx })
      : null
    output.answer({ agent, status: 'revoked', txHash }, () =>
      formatFields(
        [
          ['Agent', agent],
          ['Status', 'revoked'],
          ['Transaction', txHash],
        ],
        output.style,
      ),
    )
    if (revocationTx !== null && !isSent)
      output.note('It is still the delegate on the chain: it can trade there without this service.')
  },
}
