import {
  CHAINS,
  CHAIN_SLUGS,
  nearestName,
  parseChainSlug,
  parseServerUrl,
  type ChainSlug,
  type SettingsOf,
} from '@bezel/protocol'
import type { CommandArguments } from '../arguments/commandArguments.ts'
import { readAddress } from '../arguments/readAddress.ts'
import { UsageError } from '../errors/usageError.ts'
import { readDevnet, type Devnet } from './readDevnet.ts'
import { DEFAULT_CHAIN, DEFAULT_URL, type CLI_SETTINGS } from './settings.ts'

/** Which service, which chain, which node and which Diamond a command is for. */
export interface Target {
  readonly baseUrl: string
  readonly chain: ChainSlug
  readonly rpcUrl: string | undefined
  readonly diamond: `0x${string}`
  /** The local chain beside the service, when there is one. */
  readonly devnet: Devnet | undefined
}

type Settings = SettingsOf<typeof CLI_SETTINGS>

/** Options win over settings, settings over what a local chain says. */
export function targetOf(args: CommandArguments, settings: Settings): Target {
  const named = readUrl(args, 'url') ?? settings.BEZEL_URL
  // Keys and Diamond of a local chain are of no use, and no good, to a service elsewhere.
  const devnet = named === undefined || isLocal(named) ? readDevnet(settings.BEZEL_DATA) : undefined
  const chain = readChain(args) ?? settings.BEZEL_CHAIN ?? devnetChain(devnet) ?? DEFAULT_CHAIN
  const local = devnet?.chains[chain]
  const diamond = args.text('diamond')
  return {
    baseUrl: named ?? devnet?.baseUrl ?? DEFAULT_URL,
    chain,
    rpcUrl: readUrl(args, 'rpc') ?? settings.BEZEL_RPC_URL ?? local?.rpcUrl,
    diamond:
      (diamond === undefined ? settings.BEZEL_DIAMOND : readAddress(diamond, '--diamond')) ??
      local?.diamond ??
      CHAINS[chain].liveDiamond,
    devnet,
  }
}

function readUrl(args: CommandArguments, name: 'url' | 'rpc'): string | undefined {
  const text = args.text(name)
  if (text === undefined) return undefined
  const url = parseServerUrl(text)
  if (url !== undefined) return url
  throw new UsageError(`--${name} is ${JSON.stringify(text.slice(0, 80))}, but it must be an http or https address.`)
}

function readChain(args: CommandArguments): ChainSlug | undefined {
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
