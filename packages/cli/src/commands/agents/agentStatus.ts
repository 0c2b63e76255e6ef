import type { Agent } from '@bezel/sdk'
import { createPublicClient, formatEther, http, type Address } from 'viem'
import { readAddress } from '../../arguments/readers.ts'
import { formatFields, type PageShape } from '../../output/formatTable.ts'
import { shortAmount, dateAndTime, shortLeverage, shortValue } from '../../output/text.ts'
import type { Target } from '../../connection/target.ts'
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

/** Returns the lines that describe an agent and its permissions. */
export function agentFields({ agent, trader, name, status, mode, scope }: Agent, shape: PageShape): string[] {
  return formatFields(
    [
      ['Agent', agent],
      ['Trader', trader],
      ['Name', name === '' ? null : name],
      ['Status', status],
      ['Sends', mode === 'self' ? 'its own transactions' : 'through the relayer'],
      ['May', scope.permissions === 'read' ? 'only read' : 'trade'],
      ['Markets', scope.markets === 'all' ? 'all' : scope.markets.join(', ')],
      ['Leverage', scope.maxLeverage === null ? 'no limit' : `up to ${shortLeverage(scope.maxLeverage)}`],
      ['Daily cap', scope.dailySpendCapUsd === null ? 'no limit' : `${shortValue(scope.dailySpendCapUsd)} USD`],
      ['Expires', scope.expiresAt === null ? 'never' : `${dateAndTime(scope.expiresAt)} UTC`],
    ],
    shape,
  )
}

/** Reads the native coins that an account has for fees. `undefined` when no node is known or it does not answer. */
export async function readGas({ rpcUrl }: Target, address: Address): Promise<string | undefined> {
  if (rpcUrl === undefined) return undefined
  try {
    return formatEther(await createPublicClient({ transport: http(rpcUrl) }).getBalance({ address }))
  } catch {
    return undefined
  }
}
