import type { Address } from 'viem'
import { readAddress } from '../../arguments/readers.ts'
import type { Command, CommandContext } from '../command.ts'
import { confirm, timeoutMsOf, WAIT_OPTIONS } from '../confirm.ts'
import { agentFields } from './agentRecord.ts'

const POLL_MS = 300

/** `bezel agent delegate`. */
export const agentDelegateCommand: Command = {
  name: 'agent delegate',
  summary: 'makes an authorised agent the delegate on the chain; its limits stay as they are',
  operands: [{ name: 'ADDRESS', what: 'address of the agent (default: your own agent)', isOptional: true }],
  options: { timeout: WAIT_OPTIONS.timeout, yes: WAIT_OPTIONS.yes },
  examples: ['agent delegate', 'agent delegate 0x00000000000000000000000000000000000000A1'],
  async run(context) {
    const { args, output, environment } = context
    const [text] = args.operands
    const agent = text === undefined ? (await environment.agent()).address : readAddress(text, 'ADDRESS')
    const trader = await environment.trader()
    await confirm(context, `Make agent ${agent} the delegate of ${trader.address}`)
    const delegationTx = await sendDelegation(context, agent)
    const { agent: record } = await environment.traderClient().agents.get(agent)
    output.answer({ agent: record, delegationTx }, () => agentFields(record, output))
    if (delegationTx === null) output.note(`Nothing was sent: its status is ${record.status}.`)
  },
}

/** Sends the delegation of an agent and waits until the service sees it. Returns null when there is nothing to send. */
export async function sendDelegation(
  { args, output, environment, interruption }: CommandContext,
  agent: Address,
): Promise<`0x${string}` | null> {
  const sender = await environment.traderSender()
  interruption.leaves(
    () => 'Stopped. The delegation may have been sent already: see whether it is there with `bezel agent status`',
  )
  output.progress('Making it the delegate on the chain')
  const { agents } = environment.traderClient()
  return agents.delegate({ sender, agent, timeoutMs: timeoutMsOf(args), pollMs: POLL_MS })
}
