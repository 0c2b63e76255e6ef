import { readSettings, type SettingsOf } from '@bezel/protocol'
import {
  CHAINS,
  createBezelClient,
  privateKeySender,
  WrongDiamondError,
  type BezelClient,
  type BezelClientOptions,
  type TransactionSender,
} from '@bezel/sdk'
import type { PrivateKeyAccount } from 'viem/accounts'
import type { CommandArguments } from '../arguments/commandArguments.ts'
import { readAddress } from '../arguments/readAddress.ts'
import { UsageError } from '../errors/usageError.ts'
import type { PromptStreams } from '../keys/promptHidden.ts'
import type { PasswordSources } from '../keys/readPassword.ts'
import { createKeyRing } from './keyRing.ts'
import { requireNode } from './requireNode.ts'
import { CLI_SETTINGS } from './settings.ts'
import { targetOf, type Target } from './target.ts'

/** Clients and keys as the options, the environment and a local chain say. Nothing is read or sent before it is needed. */
export interface Environment {
  readonly target: Target
  readonly passwords: PasswordSources
  /** Reads markets; needs no key. */
  publicClient(): BezelClient
  /** Reads an account, with an agent or a read-only key. */
  readingClient(): Promise<BezelClient>
  /** Acts as the agent; with a node it can send. */
  agentClient(): Promise<BezelClient>
  /** The same for commands that send: the node is asked first whether it is on the right chain. */
  tradingClient(): Promise<BezelClient>
  /** For what the trader signs; has no credentials of its own. */
  traderClient(): Promise<BezelClient>
  agent(): Promise<PrivateKeyAccount>
  trader(): Promise<PrivateKeyAccount>
  /** Sends what the trader signs. */
  traderSender(): Promise<TransactionSender>
}

export interface EnvironmentOptions {
  readonly args: CommandArguments
  readonly env: Readonly<Record<string, string | undefined>>
  readonly streams: PromptStreams
  readonly hide: (secret: string) => void
}

export function createEnvironment({ args, env, streams, hide }: EnvironmentOptions): Environment {
  const settings = readSettings(CLI_SETTINGS, env)
  const target = targetOf(args, settings)
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

/** A client that signs for the expected Diamond alone, whatever the service says. */
export async function pinnedClient({ chain, diamond }: Target, options: BezelClientOptions): Promise<BezelClient> {
  const { signing } = await createBezelClient(options).info()
  const { verifyingContract: found } = signing.domain
  if (found.toLowerCase() !== diamond.toLowerCase()) throw new WrongDiamondError(diamond, found)
  const domain = { ...signing.domain, chainId: CHAINS[chain].chainId, verifyingContract: diamond }
  return createBezelClient({ ...options, signing: domain })
}

function traderAddress(args: CommandArguments, settings: SettingsOf<typeof CLI_SETTINGS>): `0x${string}` | undefined {
  const text = args.text('trader')
  return text === undefined ? settings.BEZEL_TRADER : readAddress(text, '--trader')
}

function noNode(): UsageError {
  return new UsageError("This command sends a transaction: name the chain's node with --rpc, or set BEZEL_RPC_URL.")
}
