import type { Agent, AgentScope } from '@bezel/sdk'
import { createPublicClient, http, type Address } from 'viem'
import type { CommandArguments } from '../../arguments/readOptions.ts'
import { readDecimal, readExpiry, readMarkets, requireMarkets, readAddress } from '../../arguments/readers.ts'
import { UsageError } from '../../errors/cliError.ts'
import type { Target } from '../../connection/target.ts'
import type { Command, CommandContext } from '../command.ts'
import { confirm, WAIT_OPTIONS, timeoutMsOf } from '../confirm.ts'
import { agentFields, readGas } from './agentStatus.ts'

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
    yes: WAIT_OPTIONS.yes,
  },
  examples: [
    'agent authorise',
    'agent authorise --keystore bot.json --markets BTC/USD --max-leverage 20 --expires 30d',
  ],
  async run(context) {
    const { args, output, environment } = context
    const scope = scopeOf(args, environment.now())
    const name = nameOf(args)
    const client = environment.traderClient()
    if (scope.markets !== 'all') requireMarkets(await client.markets.list(), scope.markets, '--markets: ')
    const agent = await environment.agent()
    const trader = await environment.trader()
    if (!args.flag('no-delegate')) await confirm(context, `Authorise agent ${agent.address} of ${trader.address}`)
    output.progress('Registering the agent')
    let { agent: record } = await client.agents.authorize({ trader, agent, name, scope })
    const isSent = !args.flag('no-delegate') && scope.permissions === 'trade' && record.status === 'pending_delegation'
    const delegationTx = isSent ? await sendDelegation(context, agent.address) : null
    if (isSent) record = (await client.agents.get(agent.address)).agent
    output.answer({ agent: record, delegationTx }, () => agentFields(record, output))
    await sayWhatIsMissing(context, record)
  },
}

async function sayWhatIsMissing(
  { output, environment: { target } }: CommandContext,
  { agent, status, scope }: Agent,
): Promise<void> {
  if (scope.permissions === 'read') return
  if (status === 'pending_delegation')
    output.note('It is not the delegate yet. Send the transaction with `bezel agent delegate`')
  if ((await readGas(target, agent)) !== '0') return
  if (await askFaucet(target, agent)) output.note('It had no coins for fees; the local chain gave it some.')
  else output.note('It has no coins to pay fees with: send it a little of the native coin before it trades.')
}

/** Asks the faucet of a local chain for coins. Returns `false` when the target is no local chain. */
async function askFaucet({ rpcUrl, devnet, chain }: Target, address: Address): Promise<boolean> {
  if (rpcUrl === undefined || devnet?.chains[chain]?.rpcUrl !== rpcUrl) return false
  const call = { method: 'bezel_faucet', params: [address] } as never
  await createPublicClient({ transport: http(rpcUrl) }).request(call)
  return true
}

function scopeOf(args: CommandArguments, nowMs: number): AgentScope {
  const markets = args.text('markets')
  const maxLeverage = args.text('max-leverage')
  const cap = args.text('daily-cap')
  const expires = args.text('expires')
  return {
    markets: markets === undefined ? 'all' : readMarkets(markets),
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
async function sendDelegation(
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
