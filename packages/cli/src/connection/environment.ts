import { readSettings, type SettingsOf } from '@bezel/protocol/program'
import {
  CHAINS,
  createBezelClient,
  privateKeySender,
  type BezelClient,
  type TransactionSender,
  WrongChainError,
} from '@bezel/sdk'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { CommandArguments } from '../arguments/readOptions.ts'
import { readAddress } from '../arguments/readers.ts'
import { UsageError, CliError, EXIT_CODES } from '../errors/cliError.ts'
import type { PromptStreams, PasswordSources } from '../keys/readPassword.ts'
import { createKeyRing, type KeyRing } from './keyRing.ts'
import { CLI_SETTINGS } from './settings.ts'
import { readTarget, type Devnet, type Target } from './target.ts'
import { createPublicClient, http } from 'viem'

/**
 * Clients and keys according to the options, the environment and a local chain. Nothing is read or sent before it is
 * needed.
 */
export interface Environment {
  readonly target: Target
  readonly passwords: PasswordSources
  /** Clock in epoch milliseconds. */
  readonly now: () => number
  /** Returns a client that reads markets; it needs no key. */
  publicClient(): BezelClient
  /** Returns a client that reads the account, with an agent or a read-only key. */
  readingClient(): Promise<BezelClient>
  /** Returns a client that acts as the agent. With a node it can send transactions. */
  agentClient(): Promise<BezelClient>
  /** Returns the client of the agent for commands that send, after a check that the node is on the right chain. */
  tradingClient(): Promise<BezelClient>
  /** Returns a client for what the trader signs. It has no credentials of its own. */
  traderClient(): BezelClient
  /** Returns the agent's account, after asking for its password if needed. */
  agent(): Promise<PrivateKeyAccount>
  /** Returns the trader's account, after asking for its password if needed. */
  trader(): Promise<PrivateKeyAccount>
  /** Returns the sender of transactions that the trader signs. */
  traderSender(): Promise<TransactionSender>
  /** Returns an account as answers name it: its address, with its name on a local chain. */
  labelOf(address: string): string
}

interface EnvironmentOptions {
  readonly args: CommandArguments
  readonly env: Readonly<Record<string, string | undefined>>
  readonly streams: PromptStreams
  readonly now: () => number
  readonly hide: (secret: string) => void
}

/** Creates the environment of one command. */
export function createEnvironment({ args, env, streams, now, hide }: EnvironmentOptions): Environment {
  const settings = readSettings(CLI_SETTINGS, env)
  const target = readTarget(args, settings)
  const ring = createKeyRing({ args, settings, target, streams, hide })
  const { baseUrl, chain, rpcUrl, diamond } = target
  const headerPrefix = settings.BEZEL_HEADER_PREFIX
  const basics = { baseUrl, chain, diamond, now, ...(headerPrefix === undefined ? {} : { headerPrefix }) }
  const apiKey = settings.BEZEL_API_KEY
  if (apiKey !== undefined) hide(apiKey)

  /** The trader that the user means goes with every private call, so that keys of another one are refused. */
  const named = async (): Promise<{ readonly trader?: `0x${string}` }> => {
    const trader = await namedTrader(args, settings, ring)
    return trader === undefined ? {} : { trader }
  }
  const environment: Environment = {
    target,
    passwords: {
      password: settings.BEZEL_KEYSTORE_PASSWORD,
      passwordFile: settings.BEZEL_KEYSTORE_PASSWORD_FILE,
      streams,
    },
    now,
    publicClient: () => createBezelClient(basics),
    async readingClient() {
      const isByKey = apiKey !== undefined && !ring.isNamed('agent')
      if (!isByKey) return environment.agentClient()
      return createBezelClient({ ...basics, apiKey, ...(await named()) })
    },
    async agentClient() {
      const account = await ring.account('agent')
      const sender = rpcUrl === undefined ? {} : { sender: privateKeySender({ account, rpcUrl }) }
      return createBezelClient({ ...basics, agent: account, ...sender, ...(await named()) })
    },
    async tradingClient() {
      if (rpcUrl === undefined) throw noNode()
      await requireNode(target, rpcUrl)
      return environment.agentClient()
    },
    traderClient: () => createBezelClient(basics),
    agent: () => ring.account('agent'),
    trader: () => ring.account('trader'),
    async traderSender() {
      if (rpcUrl === undefined) throw noNode()
      await requireNode(target, rpcUrl)
      return privateKeySender({ account: await ring.account('trader'), rpcUrl })
    },
    labelOf(address) {
      const isIt = (account: Devnet['accounts'][number]): boolean =>
        account.address.toLowerCase() === address.toLowerCase()
      const found = target.devnet?.accounts.find(isIt)
      return found === undefined ? address : `${address} (${found.name})`
    },
  }
  return environment
}

/** Throws when the node does not answer or is on another chain, so that nothing is prepared in vain. */
async function requireNode(target: Target, rpcUrl: string): Promise<void> {
  const expected = CHAINS[target.chain].chainId
  const found = await readChainId(target, rpcUrl)
  if (found !== expected) throw new WrongChainError({ who: 'The sender', expected, found })
}

async function readChainId({ devnet, chain }: Target, rpcUrl: string): Promise<number> {
  try {
    return await createPublicClient({ transport: http(rpcUrl, { retryCount: 1 }) }).getChainId()
  } catch {
    // Names only the host, because the path of a node's URL often holds a key.
    const { host } = new URL(rpcUrl)
    const isOfLocalChain = devnet?.chains[chain]?.rpcUrl === rpcUrl
    const message = isOfLocalChain
      ? `The local chain at ${host} does not answer. Is it running? npm start runs it with the service, and writes devnet.json, which names this address, into the folder of BEZEL_DATA.`
      : `The chain's node at ${host} does not answer. Check --rpc (BEZEL_RPC_URL) and the connection.`
    throw new CliError('NODE_UNREACHABLE', EXIT_CODES.unreachable, message)
  }
}

/**
 * Returns the trader that the user means: by --trader or --as, by the settings, by the trader's key in the environment,
 * or that of the local chain. The service is never asked whose agent it is.
 */
async function namedTrader(
  args: CommandArguments,
  settings: SettingsOf<typeof CLI_SETTINGS>,
  ring: KeyRing,
): Promise<`0x${string}` | undefined> {
  const text = args.text('trader')
  const byOption = text === undefined ? undefined : readAddress(text, '--trader')
  const byAs = args.text('as') === undefined ? undefined : ring.devnetAddress('trader')
  if (byOption !== undefined && byAs !== undefined && byOption !== byAs) {
    throw new UsageError(`--trader names ${byOption}, but --as means ${byAs}. Name one account.`)
  }
  const named = byOption ?? byAs ?? settings.BEZEL_TRADER
  if (named !== undefined) return named
  const hasKey = settings.BEZEL_TRADER_KEY !== undefined && settings.BEZEL_TRADER_KEYSTORE === undefined
  return hasKey ? (await ring.account('trader')).address : ring.devnetAddress('trader')
}

function noNode(): UsageError {
  return new UsageError("This command sends a transaction: name the chain's node with --rpc, or set BEZEL_RPC_URL.")
}
