import { readAddress } from '../../arguments/readers.ts'
import { agentFields, readGas } from './agentRecord.ts'
import { formatFields } from '../../output/formatTable.ts'
import { shortAmount } from '../../output/text.ts'
import type { Command } from '../command.ts'

/** `bezel agent status`. */
export const agentStatusCommand: Command = {
  name: 'agent status',
  summary: 'shows what an agent may do, whether it can trade, and what it has for fees',
  operands: [{ name: 'ADDRESS', what: 'address of the agent (default: your own agent)', isOptional: true }],
  options: {},
  examples: ['agent status', 'agent status 0x00000000000000000000000000000000000000A1'],
  async run({ args, output, environment }) {
    const [text] = args.operands
    const address = text === undefined ? (await environment.agent()).address : readAddress(text, 'ADDRESS')
    const { agent } = await environment.publicClient().agents.get(address)
    const gas = (await readGas(environment.target, address)) ?? null
    output.answer({ agent, gas }, () => [
      ...agentFields(agent, output),
      ...formatFields([['For fees ', gas === null ? null : `${shortAmount(gas)} native coins`]], output),
    ])
    if (agent.status === 'pending_delegation')
      output.note('It is not the delegate yet. Send the transaction with `bezel agent delegate`')
  },
}
