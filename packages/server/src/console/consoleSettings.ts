import { readFileSync } from 'node:fs'
import { CHAINS, isSandboxAddress, parseAddress, type ChainSlug } from '@bezel/protocol'
import { privateKeyToAddress } from 'viem/accounts'
import { isLoopbackName } from '../access/localRequest.ts'
import { isSandbox } from '../chain/sandbox.ts'
import { isLive, type ServedChain } from '../chain/servedChain.ts'

/** The facts about a deployment that the console has to know before its first request: the answer of /console.json. */
export interface ConsoleSettings {
  /** Address of the service without a slash at its end; empty where it is the one that the page came from. */
  readonly apiBase: string
  readonly chains: readonly ConsoleChain[]
  /** Accounts with keys that everybody knows, on a local chain; `null` everywhere else. */
  readonly sandbox: SandboxAccounts | null
  /** Digest of the sources of the bundle; `null` where none is served here. */
  readonly version: string | null
}

interface ConsoleChain {
  readonly slug: ChainSlug
  readonly chainId: number
  /** Name for people. */
  readonly name: string
  readonly diamond: string
  /** Address of the local chain's node. Never that of another node, which may carry credentials. */
  readonly rpcUrl: string | null
  /** Address of the block explorer, without a slash at its end. */
  readonly explorer: string | null
}

/** The accounts of a local chain. */
interface SandboxAccounts {
  readonly accounts: readonly SandboxAccount[]
}

interface SandboxAccount {
  readonly name: string
  readonly address: string
  readonly privateKey: string
}

/** Names of the accounts that a person may trade with. The others have work to do on the local chain. */
const OFFERED = /^(?:trader|agent|poor)-\d+$/

const PRIVATE_KEY = /^0x[0-9a-f]{64}$/i

/** Block explorers of the live chains, where one is known. */
const EXPLORERS: Readonly<Partial<Record<ChainSlug, string>>> = {
  arbitrum: 'https://arbiscan.io',
  base: 'https://basescan.org',
  polygon: 'https://polygonscan.com',
  'arbitrum-sepolia': 'https://sepolia.arbiscan.io',
}

/** Returns the settings that everybody may read. */
export function publicSettings(
  chains: readonly ServedChain[],
  of: Pick<ConsoleSettings, 'apiBase' | 'version'>,
): ConsoleSettings {
  return { apiBase: of.apiBase, chains: chains.map((chain) => consoleChain(chain)), sandbox: null, version: of.version }
}

/** Returns the settings with the nodes and the accounts of the local chain. */
export function sandboxSettings(
  told: ConsoleSettings,
  { chains, accounts }: { readonly chains: readonly ServedChain[]; readonly accounts: readonly SandboxAccount[] },
): ConsoleSettings {
  const rpcUrls = new Map(chains.map(({ slug, rpcUrls: [first] }) => [slug, first?.url]))
  return {
    ...told,
    chains: told.chains.map((chain) => ({ ...chain, rpcUrl: rpcUrls.get(chain.slug) ?? null })),
    sandbox: { accounts },
  }
}

/**
 * Reads the accounts of the local chain from its chains file; `undefined` for a deployment that must not tell them. All
 * of these must hold: the deployment is a sandbox, it listens on this machine alone, and so do its nodes. An account
 * counts only when its key is that of a sandbox's address, so a file of somebody else can't make the service tell one.
 */
export function readSandboxAccounts(of: {
  readonly chains: readonly ServedChain[]
  readonly chainsFile: string
  readonly host: string
}): readonly SandboxAccount[] | undefined {
  const hosts = [of.host, ...of.chains.flatMap((chain) => chain.rpcUrls.map(({ url }) => URL.parse(url)?.hostname))]
  if (!isSandbox(of) || !hosts.every(isLoopbackName)) return undefined
  const { accounts } = JSON.parse(readFileSync(of.chainsFile, 'utf8')) as { readonly accounts?: unknown }
  return Array.isArray(accounts) ? accounts.filter(isOfferedAccount) : []
}

function isOfferedAccount(value: Partial<SandboxAccount> | null): value is SandboxAccount {
  if (typeof value?.name !== 'string' || !OFFERED.test(value.name)) return false
  const { address, privateKey } = value
  if (typeof privateKey !== 'string' || !PRIVATE_KEY.test(privateKey)) return false
  const known = parseAddress(privateKeyToAddress(privateKey as `0x${string}`))
  return known !== undefined && known === address && isSandboxAddress(known)
}

function consoleChain(chain: ServedChain): ConsoleChain {
  const { slug, chainId, diamond } = chain
  const explorer = isLive(chain) ? (EXPLORERS[slug] ?? null) : null
  return { slug, chainId, name: CHAINS[slug].name, diamond, rpcUrl: null, explorer }
}
