import { readSettings, type SettingsOf } from '@bezel/protocol'
import {
  CHAINS,
  createBezelClient,
  privateKeySender,
  WrongDiamondError,
  type BezelClient,
  type BezelClientOptions,
  type TransactionSender,
  WrongChainError,
} from '@bezel/sdk'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { CommandArguments } from '../arguments/readOptions.ts'
import { readAddress } from '../arguments/readers.ts'
import { UsageError, CliError, EXIT_CODES } from '../errors/cliError.ts'
import type { PromptStreams, PasswordSources } from '../keys/readPassword.ts'
import { createKeyRing } from './keyRing.ts'
import { CLI_SETTINGS } from './settings.ts'
import { readTarget, type Target } from './target.ts'
import { createPublicClient, http } from 'viem'

/**
 * Clients and keys according to the options, the environment and a local chain. Nothing is read or sent before it is
 * needed.
 */
export interface Environment {
  readonly target: Target
  readonly passwords: PasswordSources
  /** Returns a client that reads markets; it needs no key. */
  publicClient(): BezelClient
  /** Returns a client that reads the account, with an agent or a read-only key. */
  readingClient(): Promise<BezelClient>
  /** Returns a client that acts as the agent. With a node it can send transactions. */
  agentClient(): Promise<BezelClient>
  /** Returns the client of the agent for commands that send, after a check that the node is on the right chain. */
  tradingClient(): Promise<BezelClient>
  /** Returns a client for what the trader signs. It has no credentials of its own. */
  traderClient(): Promise<BezelClient>
  /** Returns the agent's account, after asking for its password if needed. */
  agent(): Promise<PrivateKeyAccount>
  /** Returns the trader's account, after asking for its password if needed. */
  trader(): Promise<PrivateKeyAccount>
  /** Returns the sender of transactions that the trader signs. */
  traderSender(): Promise<TransactionSender>
}

interface EnvironmentOptions {
  readonly args: CommandArguments
  readonly env: Readonly<Record<string, string | undefined>>
  readonly streams: PromptStreams
  readonly hide: (secret: string) => void
}

/** Creates the environment of one command. */
export function createEnvironment({ args, env, streams, hide }: EnvironmentOptions): Environment {
  const settings = readSettings(CLI_SETTINGS, env)
  const target = readTarget(args, settings)
  const ring = createKeyRing({ args, settings, target, streams, hide })
  const { baseUrl, chain, rpcUrl } = target
  const headerPrefix = settings.BEZEL_HEADER_PREFIX
  const basics = { baseUrl, chain, ...(headerPrefix === undefined ? {} : { headerPrefix }) }
  const apiKey = settings.BEZEL_API_KEY
  if (apiKey !== undefined) hide(apiKey)

  const environment: Environment = {
    target,
    passwords: {
      password: settings.BEZEL_KEYSTORE_PASSWORD,
      passwordFile: settings.BEZEL_KEYSTORE_PASSWORD_FILE,
      streams,
    },
    publicClient: () => createBezelClient(basics),
    async readingClient() {
      const isByKey = apiKey !== undefined && !ring.isNamed('agent')
      if (!isByKey) return environment.agentClient()
      const trader = traderAddress(args, settings) ?? ring.devnetAddress('trader')
      return createBezelClient({ ...basics, apiKey, ...(trader === undefined ? {} : { trader }) })
    },
    async agentClient() {
      const account = await ring.account('agent')
      const trader = traderAddress(args, settings)
      const sender = rpcUrl === undefined ? {} : { sender: privateKeySender({ account, rpcUrl }) }
      return pinnedClient(target, { ...basics, agent: account, ...sender, ...(trader === undefined ? {} : { trader }) })
    },
    async tradingClient() {
      if (rpcUrl === undefined) throw noNode()
      await requireNode(target, rpcUrl)
      return environment.agentClient()
    },
    traderClient: () => pinnedClient(target, basics),
    agent: () => ring.account('agent'),
    trader: () => ring.account('trader'),
    async traderSender() {
      if (rpcUrl === undefined) throw noNode()
      await requireNode(target, rpcUrl)
      return privateKeySender({ account: await ring.account('trader'), rpcUrl })
    },
  }
  return environment
}

/** Creates a client that signs for the expected Diamond only. Throws when the service uses another one. */
async function pinnedClient({ chain, diamond }: Target, options: BezelClientOptions): Promise<BezelClient> {
  const { signing } = await createBezelClient(options).info()
  const { verifyingContract: found } = signing.domain
  if (found.toLowerCase() !== diamond.toLowerCase()) throw new WrongDiamondError(diamond, found)
  const domain = { ...signing.domain, chainId: CHAINS[chain].chainId, verifyingContract: diamond }
  return createBezelClient({ ...options, signing: domain })
}

/** Throws when the node does not answer or is on another chain, so that nothing is prepared in vain. */
async function requireNode({ chain }: Target, rpcUrl: string): Promise<void> {
  const expected = CHAINS[chain].chainId
  const found = await readChainId(rpcUrl)
  if (found !== expected) throw new WrongChainError({ who: 'The sender', expected, found })
}

async function readChainId(rpcUrl: string): Promise<number> {
  try {
    return await createPublicClient({ transport: http(rpcUrl, { retryCount: 1 }) }).getChainId()
  } catch {
    // Names only the host, because the path of a node's URL often holds a key.
    const { host } = new URL(rpcUrl)
    throw new CliError(
      'NODE_UNREACHABLE',
      EXIT_CODES.unreachable,
      `The chain's node at ${host} does not answer. Check --rpc (BEZEL_RPC_URL) and the connection.`,
    )
  }
}

function traderAddress(args: CommandArguments, settings: SettingsOf<typeof CLI_SETTINGS>): `0x${string}` | undefined {
  const text = args.text('trader')
  return text === undefined ? settings.BEZEL_TRADER : readAddress(text, '--trader')
}

function noNode(): UsageError {
  return new UsageError("This command sends a transaction: name the chain's node with --rpc, or set BEZEL_RPC_URL.")
}
