import {
  ApiError,
  CHAINS,
  CHAIN_SLUGS,
  StartupError,
  Wei,
  parseAddress,
  parseChainSlug,
  parseDecimal,
  parseServerUrl,
  type Address,
  type ChainSlug,
} from '@bezel/protocol'
import { readFileSync } from 'node:fs'
import { parseFinality, type FinalityRule } from './finality.ts'

/** A chain as this deployment serves it. */
export interface ServedChain {
  readonly slug: ChainSlug
  readonly chainId: number
  readonly testnet: boolean
  readonly diamond: Address
  /** Providers of the chain, the preferred one first; at least one. */
  readonly rpcUrls: readonly ProviderSettings[]
  /** Addresses at which nodes tell of new blocks, the preferred one first. */
  readonly wsUrls: readonly string[]
  /** URL of the chain's trading backend, without a slash at its end, whose opening flags win over the trading hours. */
  readonly backendUrl: string | undefined
  /** False for a read-only deployment, which prepares no transactions on this chain. */
  readonly writes: boolean
  /** The rule by which blocks become final. The data to undo a block is kept until it is. */
  readonly finality: FinalityRule
  /** With more than one provider: a block is final only when two of them say so. */
  readonly confirmFinality: boolean
  /**
   * First block that is followed, for a chain that is indexed from its beginning; it must not lie after the first trade
   * that matters. `undefined`: everything that is open is read at the node's head, and the chain is followed from
   * there.
   */
  readonly startBlock: number | undefined
  /**
   * Number of blocks after which the Diamond is expected to give a request back. A Diamond that answers otherwise is
   * refused at the start; what is used is always its own answer. `undefined`: any number is right.
   */
  readonly requestTimeoutBlocks: number | undefined
  /** Settings of the facade's relayer on this chain, where they differ from the defaults. */
  readonly relayer: ChainRelayerSettings
}

/** One address of a chain's node, and the limits that are known of it. */
export interface ProviderSettings {
  /** Never logged, because its path or query may carry credentials. */
  readonly url: string
  /** The most calls in a batch. */
  readonly batch?: number
  /** The most blocks of one question for logs. */
  readonly logRange?: number
  /** Units a second that may be spent, as `unitsOf` counts them. */
  readonly unitsPerSecond?: number
}

/** Settings of the facade's relayer. Amounts are in wei of the chain's native token. */
interface ChainRelayerSettings {
  /** Gas cost that one trader's actions may reach on one UTC day. */
  readonly traderDayWei?: bigint
  /** Gas cost that all actions together may reach on one UTC day. */
  readonly deploymentDayWei?: bigint
  /** Balance below which the relayer asks to be topped up. */
  readonly lowBalanceWei?: bigint
  /** Highest fee per unit of gas, at which the gas of ways out is set aside. */
  readonly maxFeeWei?: bigint
  /** Number of transactions that are not mined from which on only exits and a trader's first few are accepted. */
  readonly maxUnmined?: number
}

/**
 * Returns the chain with this slug. Throws `CHAIN_NOT_FOUND` when there is none, also for a chain that exists but is
 * not served here.
 */
export function servedChainOf<Chain extends { readonly slug: string }>(chains: readonly Chain[], slug: string): Chain {
  const chain = chains.find((candidate) => candidate.slug === slug)
  if (chain !== undefined) return chain
  const served = chains.map((candidate) => candidate.slug)
  throw new ApiError('CHAIN_NOT_FOUND', `This deployment serves ${served.join(', ')}.`, { chains: served })
}

/** True for a chain whose configured Diamond is the live one, not that of a local chain with the same id. */
export function isLive({ slug, diamond }: Pick<ServedChain, 'slug' | 'diamond'>): boolean {
  return diamond === CHAINS[slug].liveDiamond
}

/** Default interval of the rounds over accounts: calls of a live node cost money. */
const ACCOUNT_REFRESH_MS = { live: 30_000, local: 2_000 } as const

/** Returns the interval of the rounds over accounts: the setting, or else the default of the chain. */
export function accountRefreshMs(chain: Pick<ServedChain, 'slug' | 'diamond'>, setting: number | undefined): number {
  return setting ?? ACCOUNT_REFRESH_MS[isLive(chain) ? 'live' : 'local']
}

/**
 * Reads the chains of a deployment: `{"chains": {"<slug>": {"chainId", "rpcUrls", "wsUrls"?, "diamond", "writes"?,
 * "finality"?, "startBlock"?, "firstBlock"?, "requestTimeoutBlocks"?, "backendUrl"?, "relayer"?}}}`. The local chain
 * writes this file; for live chains an operator writes it in the same shape. Ignores other keys, which other programs
 * read. Throws a `StartupError` at the first fault.
 */
export function readChainsFile(path: string): readonly ServedChain[] {
  const entries = Object.entries(record(parseFile(path).chains) ?? {})
  if (entries.length === 0) throw fault(path, 'names no chain: it needs {"chains": {"<chain>": {...}}}')
  return entries.map(([slug, entry]) => readEntry(path, slug, record(entry)))
}

/**
 * Reads the URL of the price feed from the chains file: `{"feedUrl": "http..."}`; `undefined` when the file names none.
 */
export function readFeedUrl(path: string): string | undefined {
  const { feedUrl } = parseFile(path)
  if (feedUrl === undefined) return undefined
  const url = typeof feedUrl === 'string' ? parseServerUrl(feedUrl) : undefined
  if (url === undefined) throw fault(path, 'has no http or https address at feedUrl')
  return url
}

function parseFile(path: string): Readonly<Record<string, unknown>> {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    throw fault(
      path,
      `can't be read (${code}): set BEZEL_CHAINS_FILE to the file that names your chains (docs/operations.md), or start a local chain, which writes one (npm run devnet)`,
    )
  }
  try {
    return record(JSON.parse(text)) ?? {}
  } catch {
    throw fault(path, 'is not valid JSON: correct it or set BEZEL_CHAINS_FILE to another file')
  }
}

function readEntry(path: string, name: string, entry: Readonly<Record<string, unknown>> = {}): ServedChain {
  const slug = parseChainSlug(name)
  if (slug === undefined) {
    throw fault(path, `names the chain ${JSON.stringify(name)}, but only ${CHAIN_SLUGS.join(', ')} exist`)
  }
  const { chainId, testnet } = CHAINS[slug]
  if (entry.chainId !== chainId) {
    throw fault(path, `says chainId ${JSON.stringify(entry.chainId)} for ${slug}, but it is ${chainId}`)
  }
  const diamond = typeof entry.diamond === 'string' ? parseAddress(entry.diamond) : undefined
  if (diamond === undefined) throw fault(path, `has no valid address at chains.${slug}.diamond`)
  const rpcUrls = readProviders(entry, (what, field) => fault(path, `has ${what} at chains.${slug}.${field}`))
  const wsUrls = readSockets(entry, (what, field) => fault(path, `has ${what} at chains.${slug}.${field}`))
  const backendUrl = typeof entry.backendUrl === 'string' ? parseServerUrl(entry.backendUrl) : undefined
  if (backendUrl === undefined && entry.backendUrl !== undefined) {
    throw fault(path, `has no http or https address at chains.${slug}.backendUrl`)
  }
  const { writes = true } = entry
  if (typeof writes !== 'boolean') throw fault(path, `has neither true nor false at chains.${slug}.writes`)
  const { confirmFinality = true } = entry
  if (typeof confirmFinality !== 'boolean') {
    throw fault(path, `has neither true nor false at chains.${slug}.confirmFinality`)
  }
  const finality = parseFinality(entry, { slug, isLive: isLive({ slug, diamond }) })
  if (finality === undefined) {
    throw fault(path, `has neither "tag" nor {"seconds": n} nor {"blocks": n} at chains.${slug}.finality`)
  }
  return {
    slug,
    chainId,
    testnet,
    diamond,
    rpcUrls,
    wsUrls,
    backendUrl,
    writes,
    finality,
    confirmFinality,
    startBlock: readStartBlock(path, slug, entry),
    requestTimeoutBlocks: wholeNumber(path, slug, entry, 'requestTimeoutBlocks'),
    relayer: readRelayerSettings(entry.relayer, (field) =>
      fault(
        path,
        field === 'relayer.maxUnmined'
          ? `has no whole number of at least 1 at chains.${slug}.${field}`
          : `has no amount of native token, as decimal text, at chains.${slug}.${field}`,
      ),
    ),
  }
}

/** Reads `startBlock`. Below `firstBlock` the Diamond emitted events of an older version, which are not decoded. */
function readStartBlock(path: string, slug: string, entry: Readonly<Record<string, unknown>>): number | undefined {
  const startBlock = wholeNumber(path, slug, entry, 'startBlock')
  const firstBlock = wholeNumber(path, slug, entry, 'firstBlock') ?? 0
  if (startBlock === undefined || startBlock >= firstBlock) return startBlock
  throw fault(path, `has a block below ${firstBlock}, the firstBlock, at chains.${slug}.startBlock`)
}

function wholeNumber(
  path: string,
  slug: string,
  entry: Readonly<Record<string, unknown>>,
  name: 'startBlock' | 'firstBlock' | 'requestTimeoutBlocks',
): number | undefined {
  const value = entry[name]
  if (value === undefined) return undefined
  if (Number.isSafeInteger(value) && Number(value) >= 0) return Number(value)
  throw fault(path, `has no whole number of at least 0 at chains.${slug}.${name}`)
}

/** Makes the error of one field of a chain's entry. */
type FaultOf = (what: string, field: string) => Error

/** Limits of a provider that an operator may state. */
const PROVIDER_LIMITS = ['batch', 'logRange', 'unitsPerSecond'] as const

/**
 * Reads `rpcUrls`, a list of addresses or of `{"url", "batch"?, "logRange"?, "unitsPerSecond"?}`, or `rpcUrl`, a single
 * address.
 */
function readProviders(
  { rpcUrl, rpcUrls }: Readonly<Record<string, unknown>>,
  faultOf: FaultOf,
): readonly ProviderSettings[] {
  if (rpcUrls === undefined) {
    const url = urlOf(rpcUrl, HTTP)
    if (url === undefined) throw faultOf('no http or https address', 'rpcUrl')
    return [{ url }]
  }
  if (rpcUrl !== undefined) throw faultOf('a second list of addresses beside rpcUrl', 'rpcUrls')
  if (!Array.isArray(rpcUrls) || rpcUrls.length === 0) throw faultOf('no list of addresses', 'rpcUrls')
  const providers = rpcUrls.map((entry: unknown, at) => readProvider(entry, `rpcUrls[${at}]`, faultOf))
  const doubled = providers.findIndex(({ url }, at) => providers.findIndex((other) => other.url === url) < at)
  if (doubled !== -1) throw faultOf('an address for the second time', `rpcUrls[${doubled}]`)
  return providers
}

function readProvider(entry: unknown, at: string, faultOf: FaultOf): ProviderSettings {
  const { url: address, ...limits } = record(entry) ?? { url: entry }
  const url = urlOf(address, HTTP)
  if (url === undefined) throw faultOf('no http or https address', at)
  for (const [name, limit] of Object.entries(limits)) {
    if (!PROVIDER_LIMITS.some((known) => known === name)) throw faultOf('an unknown setting', `${at}.${name}`)
    if (!Number.isSafeInteger(limit) || Number(limit) < 1)
      throw faultOf('no whole number of at least 1', `${at}.${name}`)
  }
  return { url, ...limits }
}

/** Reads `wsUrls`, a list of addresses, or `wsUrl`, a single one. Both may be left out. */
function readSockets({ wsUrl, wsUrls }: Readonly<Record<string, unknown>>, faultOf: FaultOf): readonly string[] {
  if (wsUrls !== undefined && wsUrl !== undefined) throw faultOf('a second list of addresses beside wsUrl', 'wsUrls')
  if (wsUrls !== undefined && !Array.isArray(wsUrls)) throw faultOf('no list of addresses', 'wsUrls')
  const listed: readonly unknown[] = wsUrls ?? (wsUrl === undefined ? [] : [wsUrl])
  return listed.map((address, at) => {
    const url = urlOf(address, WS)
    if (url === undefined) {
      throw faultOf('no ws or wss address', wsUrls === undefined ? 'wsUrl' : `wsUrls[${at}]`)
    }
    return url
  })
}

const HTTP = ['http:', 'https:']
const WS = ['ws:', 'wss:']

function urlOf(value: unknown, protocols: readonly string[]): string | undefined {
  const url = typeof value === 'string' ? URL.parse(value) : null
  return url !== null && protocols.includes(url.protocol) ? url.href : undefined
}

/** The amounts of a relayer's settings, with the number of wei of one of their units. */
const AMOUNTS = {
  traderDay: ['traderDayWei', Wei.one],
  day: ['deploymentDayWei', Wei.one],
  lowBalance: ['lowBalanceWei', Wei.one],
  maxFeeGwei: ['maxFeeWei', 10n ** 9n],
} as const

/**
 * Reads the relayer settings of a chain's entry: `{"traderDay"?, "day"?, "lowBalance"?, "maxFeeGwei"?, "maxUnmined"?}`.
 * The first three are decimal texts in the chain's native token. Throws `faultOf(field)` for a field that is not valid.
 */
function readRelayerSettings(value: unknown, faultOf: (field: string) => Error): ChainRelayerSettings {
  if (value !== undefined && (typeof value !== 'object' || value === null)) throw faultOf('relayer')
  const { maxUnmined, ...amounts } = (value ?? {}) as Readonly<Record<string, unknown>>
  const read: Record<string, bigint> = {}
  for (const [name, text] of Object.entries(amounts)) {
    const wei = weiOf(text)
    if (!Object.hasOwn(AMOUNTS, name) || wei === undefined) throw faultOf(`relayer.${name}`)
    const [field, unitWei] = AMOUNTS[name as keyof typeof AMOUNTS]
    read[field] = (wei * unitWei) / Wei.one
  }
  if (maxUnmined === undefined) return read
  if (!Number.isSafeInteger(maxUnmined) || Number(maxUnmined) < 1) throw faultOf('relayer.maxUnmined')
  return { ...read, maxUnmined: Number(maxUnmined) }
}

function weiOf(text: unknown): bigint | undefined {
  const decimal = typeof text === 'string' ? parseDecimal(text) : undefined
  const wei = decimal === undefined ? undefined : Wei.parse(decimal)
  return wei !== undefined && wei >= 0n ? wei : undefined
}

function record(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined
}

function fault(path: string, what: string): StartupError {
  return new StartupError(`The chains file ${path} ${what}.`)
}
