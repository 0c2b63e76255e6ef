import type { Agent, AgentScope } from '@bezel/sdk'
import type { CommandArguments } from '../arguments/readOptions.ts'
import { readDecimal, readMarket, readExpiry } from '../arguments/readers.ts'
import { UsageError } from '../errors/cliError.ts'
import { agentFields, askFaucet, readGas } from './agentRecord.ts'
import type { Command, CommandContext } from './command.ts'
import { timeoutMsOf, WAIT_OPTIONS } from './followOrder.ts'

const MAX_NAME_CHARS = 32

const POLL_MS = 300

/** `bezel agent authorise`. */
export const agentAuthoriseCommand: Command = {
  name: 'agent authorise',
  aliases: ['agent authorize'],
  summary: 'lets an agent trade for the trader: registers it, and makes it the delegate on the chain',
  operands: [],
  options: {
    name: { type: 'string', value: 'NAME', what: 'name of the agent in lists, up to 32 characters' },
    markets: {
      type: 'string',
      value: 'LIST',
      what: 'markets it may trade, for instance BTC/USD,ETH/USD (default: all)',
    },
    'max-leverage': { type: 'string', value: 'X', what: 'highest leverage it may use (default: no limit)' },
    'daily-cap': { type: 'string', value: 'USD', what: 'highest notional a day (default: no limit)' },
    expires: {
      type: 'string',
      value: 'WHEN',
      what: 'end of the authorisation: 12h, 30d, or 2027-01-31 (default: never)',
    },
    'read-only': { type: 'boolean', what: 'let it read the account but not trade' },
    'no-delegate': { type: 'boolean', what: 'only register the agent; send nothing to the chain' },
    timeout: WAIT_OPTIONS.timeout,
  },
  examples: [
    'agent authorise',
    'agent authorise --keystore bot.json --markets BTC/USD --max-leverage 20 --expires 30d',
  ],
  async run(context) {
    const { args, output, environment, interruption } = context
    const scope = scopeOf(args, environment.now())
    const name = nameOf(args)
    const agent = await environment.agent()
    const trader = await environment.trader()
    const client = environment.traderClient()
    output.progress('Registering the agent')
    let { agent: record } = await client.agents.authorize({ trader, agent, name, scope })
    const isSent = !args.flag('no-delegate') && scope.permissions === 'trade' && record.status === 'pending_delegation'
    let delegationTx: string | null = null
    if (isSent) {
      const sender = await environment.traderSender()
      interruption.leaves(
        () => 'Stopped. The agent is registered; bezel agent status says whether it is the delegate yet.',
      )
      output.progress('Making it the delegate on the chain')
      delegationTx = await client.agents.delegate({
        sender,
        agent: agent.address,
        timeoutMs: timeoutMsOf(args),
        pollMs: POLL_MS,
      })
      record = (await client.agents.get(agent.address)).agent
    }
    output.answer({ agent: record, delegationTx }, () => agentFields(record, output.style))
    await sayWhatIsMissing(context, record)
  },
}

async function sayWhatIsMissing(
  { output, environment: { target } }: CommandContext,
  { agent, status, scope }: Agent,
): Promise<void> {
  if (scope.permissions === 'read') return
  if (status === 'pending_delegation')
    output.note('It is not the delegate yet: bezel agent authorise without --no-delegate sends the transaction.')
  if ((await readGas(target, agent)) !== '0') return
  if (await askFaucet(target, agent)) output.note('It had no coins for fees; the local chain gave it some.')
  else output.note('It has no coins to pay fees with: send it a little of the native coin before it trades.')
}

function scopeOf(args: CommandArguments, nowMs: number): AgentScope {
  const markets = args.text('markets')
  const maxLeverage = args.text('max-leverage')
  const cap = args.text('daily-cap')
  const expires = args.text('expires')
  return {
    markets: markets === undefined ? 'all' : markets.split(',').map((market) => readMarket(market.trim())),
    maxLeverage: maxLeverage === undefined ? null : readDecimal(maxLeverage, '--max-leverage'),
    dailySpendCapUsd: cap === undefined ? null : readDecimal(cap, '--daily-cap'),
    expiresAt: expires === undefined ? null : readExpiry(expires, nowMs),
    permissions: args.flag('read-only') ? 'read' : 'trade',
  }
}

function nameOf(args: CommandArguments): string {
  const name = args.text('name') ?? 'bezel cli'
  if (name.length <= MAX_NAME_CHARS) return name
  throw new UsageError(`--name has ${name.length} characters, and ${MAX_NAME_CHARS} are allowed.`)
}
