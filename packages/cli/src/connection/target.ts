import { nearestName, parseServerUrl, type SettingsOf } from '@bezel/protocol/program'
import { CHAINS, CHAIN_SLUGS, parseChainSlug, type ChainSlug } from '@bezel/protocol/wire'
import type { CommandArguments } from '../arguments/readOptions.ts'
import { readAddress } from '../arguments/readers.ts'
import { UsageError } from '../errors/cliError.ts'
import { DEFAULT_CHAIN, DEFAULT_URL, type CLI_SETTINGS } from './settings.ts'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The service, chain, node and Diamond that a command works with. */
export interface Target {
  readonly baseUrl: string
  readonly chain: ChainSlug
  readonly rpcUrl: string | undefined
  readonly diamond: `0x${string}`
  /** The local chain beside the service, if there is one. */
  readonly devnet: Devnet | undefined
}

/** The description that a local chain leaves of itself in devnet.json. */
export interface Devnet {
  readonly chains: Readonly<Record<string, { readonly rpcUrl: string; readonly diamond: `0x${string}` }>>
  /** Accounts of the local chain. Their keys are public, so they must hold nothing of value. */
  readonly accounts: readonly {
    readonly name: string
    readonly address: `0x${string}`
    readonly privateKey: `0x${string}`
  }[]
  readonly baseUrl: string
}

type Settings = SettingsOf<typeof CLI_SETTINGS>

/** Works out the target of a command. Options win over settings, and settings over the local chain's description. */
export function readTarget(args: CommandArguments, settings: Settings): Target {
  const named = urlOption(args, 'url') ?? settings.BEZEL_URL
  // A service elsewhere must not be used with the keys and the Diamond of the local chain.
  const devnet = named === undefined || isLocal(named) ? readDevnet(settings.BEZEL_DATA) : undefined
  const chain = chainOption(args) ?? settings.BEZEL_CHAIN ?? devnetChain(devnet) ?? DEFAULT_CHAIN
  const local = devnet?.chains[chain]
  const diamond = args.text('diamond')
  return {
    baseUrl: named ?? devnet?.baseUrl ?? DEFAULT_URL,
    chain,
    rpcUrl: urlOption(args, 'rpc') ?? settings.BEZEL_RPC_URL ?? local?.rpcUrl,
    diamond:
      (diamond === undefined ? settings.BEZEL_DIAMOND : readAddress(diamond, '--diamond')) ??
      local?.diamond ??
      CHAINS[chain].liveDiamond,
    devnet,
  }
}

function urlOption(args: CommandArguments, name: 'url' | 'rpc'): string | undefined {
  const text = args.text(name)
  if (text === undefined) return undefined
  const url = parseServerUrl(text)
  if (url !== undefined) return url
  throw new UsageError(`--${name} is ${JSON.stringify(text.slice(0, 80))}, but it must be an http or https address.`)
}

function chainOption(args: CommandArguments): ChainSlug | undefined {
  const text = args.text('chain')
  if (text === undefined) return undefined
  const chain = parseChainSlug(text)
  if (chain !== undefined) return chain
  const nearest = nearestName(text, CHAIN_SLUGS)
  const hint = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  throw new UsageError(
    `There is no chain ${JSON.stringify(text.slice(0, 40))}; the chains are ${CHAIN_SLUGS.join(', ')}.${hint}`,
  )
}

function devnetChain(devnet: Devnet | undefined): ChainSlug | undefined {
  const slugs = Object.keys(devnet?.chains ?? {})
  return parseChainSlug(slugs.includes(DEFAULT_CHAIN) ? DEFAULT_CHAIN : (slugs[0] ?? ''))
}

function isLocal(url: string): boolean {
  const { hostname } = new URL(url)
  return ['localhost', '[::1]'].includes(hostname) || hostname.startsWith('127.')
}

/** Reads the description of the local chain; `undefined` when there is none. */
function readDevnet(folder: string): Devnet | undefined {
  const path = join(folder, 'devnet.json')
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
  const devnet = parse(text)
  if (devnet !== undefined) return devnet
  throw new UsageError(
    `${path} does not describe a local chain. Start it anew with npm start, or set BEZEL_DATA to another folder.`,
  )
}

function parse(text: string): Devnet | undefined {
  try {
    const { chains, accounts, baseUrl } = JSON.parse(text) as Partial<Devnet>
    const isWhole = typeof chains === 'object' && Array.isArray(accounts) && typeof baseUrl === 'string'
    return isWhole ? { chains, accounts, baseUrl } : undefined
  } catch {
    return undefined
  }
}
