import { readFileSync } from 'node:fs'
import { CHAINS, CHAIN_SLUGS, parseAddress, parseChainSlug, parseServerUrl, StartupError } from '@bezel/protocol'
import { readRelayerBudgets } from './readRelayerBudgets.ts'
import type { ServedChain } from './servedChain.ts'

const DEFAULT_FINALITY_DEPTH = 64

/**
 * The chains of a deployment: `{"chains": {"<slug>": {"chainId", "rpcUrl", "wsUrl"?, "diamond", "writes"?, "finalityDepth"?,
 * "startBlock"?, "relayer"?}}}`. The local chain writes this file; for live
 * chains a person does, in the same shape. Other keys are left to other readers. Throws a `StartupError` at the first fault.
 */
export function readChainsFile(path: string): readonly ServedChain[] {
  const entries = Object.entries(record(parseFile(path).chains) ?? {})
  if (entries.length === 0) throw fault(path, 'names no chain: it needs {"chains": {"<chain>": {...}}}')
  return entries.map(([slug, entry]) => readEntry(path, slug, record(entry)))
}

/** The price feed that goes with the chains: `{"feedUrl": "http..."}`; `undefined` when the file names none. */
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
    throw fault(path, `can't be read (${code}): start the local chain first (npm start) or set BEZEL_CHAINS_FILE`)
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
  const rpcUrl = urlOf(entry.rpcUrl, ['http:', 'https:'])
  if (rpcUrl === undefined) throw fault(path, `has no http or https address at chains.${slug}.rpcUrl`)
  const wsUrl = urlOf(entry.wsUrl, ['ws:', 'wss:'])
  if (wsUrl === undefined && entry.wsUrl !== undefined) {
    throw fault(path, `has no ws or wss address at chains.${slug}.wsUrl`)
  }
  const { writes = true } = entry
  if (typeof writes !== 'boolean') throw fault(path, `has neither true nor false at chains.${slug}.writes`)
  return {
    slug,
    chainId,
    testnet,
    diamond,
    rpcUrl,
    wsUrl,
    writes,
    finalityDepth: wholeNumber(path, slug, entry, 'finalityDepth', DEFAULT_FINALITY_DEPTH, 1),
    startBlock: wholeNumber(path, slug, entry, 'startBlock', 0, 0),
    relayer: readRelayerBudgets(entry.relayer, (field) =>
      fault(path, `has no amount of native token, as decimal text, at chains.${slug}.${field}`),
    ),
  }
}

function wholeNumber(
  path: string,
  slug: string,
  entry: Readonly<Record<string, unknown>>,
  name: string,
  standard: number,
  min: number,
): number {
  const value = entry[name] ?? standard
  if (Number.isSafeInteger(value) && Number(value) >= min) return Number(value)
  throw fault(path, `has no whole number of at least ${min} at chains.${slug}.${name}`)
}

function urlOf(value: unknown, protocols: readonly string[]): string | undefined {
  const url = typeof value === 'string' ? URL.parse(value) : null
  return url !== null && protocols.includes(url.protocol) ? url.href : undefined
}

function record(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined
}

function fault(path: string, what: string): StartupError {
  return new StartupError(`The chains file ${path} ${what}.`)
}
