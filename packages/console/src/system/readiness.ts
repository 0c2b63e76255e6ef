import { formatDuration } from '../ground/format.ts'

/** The state of a chain as `/ready` tells it. */
export interface ChainReadiness {
  readonly ready: boolean
  readonly reason?: string
  readonly diamondWarning?: string
  readonly writesPaused?: string
  readonly marketsLeftOut?: readonly string[]
  readonly relayer: boolean
  readonly relayerWarning?: string
}

/** The state of a chain in words that a trader understands. */
export interface ChainWords {
  readonly tone: 'good' | 'bad' | 'warn'
  readonly label: string
  readonly sentences: readonly string[]
}

/** Meaning of each reason of `/ready` to somebody who trades. */
const REASONS: Readonly<Record<string, string>> = {
  starting: 'The service has just started and is reading the markets. It takes a few seconds.',
  snapshot: 'The service is reading what is open on the chain. Positions and orders appear when it is done.',
  feed_stale: 'The price feed is silent, so no price is known and nothing can be traded. Open positions are unchanged.',
  chain_lagging: 'The node of the chain does not answer, so what you see may be old. Orders wait until it does.',
  reorg_too_deep: 'The chain was reorganised too deeply. The operator has to set up its data again.',
  diamond_changed: 'The contracts have changed, and nothing is written until they are checked. You can still read.',
  store_lagging: 'This part of the service is a moment behind the others. Try again in a moment.',
  store_unavailable: 'The database of the service does not answer, so nothing private is shown. Try again in a moment.',
  clock: 'The clock of this part of the service is wrong, so it accepts no signature. Try again in a moment.',
  stopping: 'This part of the service is being replaced. The page connects to another one by itself.',
  overloaded: 'The service has more to do than it can. Try again in a moment.',
}

/** Returns the chains of an answer of `/ready`; null when it is none. */
export function readReadiness(body: unknown): Readonly<Record<string, ChainReadiness>> | null {
  const chains = (body as { readonly chains?: unknown } | null)?.chains
  return typeof chains === 'object' && chains !== null ? (chains as Readonly<Record<string, ChainReadiness>>) : null
}

/** Returns the state of a chain in words. */
export function chainWords(state: ChainReadiness): ChainWords {
  const sentences = [
    state.ready ? undefined : (REASONS[state.reason ?? ''] ?? `The service says: ${state.reason ?? 'not ready'}.`),
    state.diamondWarning,
    state.writesPaused === undefined
      ? undefined
      : `The operator has paused trading: ${state.writesPaused}. You can still read, and revoke agents.`,
    leftOutWords(state.marketsLeftOut),
    state.relayerWarning,
  ].filter((sentence) => sentence !== undefined)
  if (!state.ready) return { tone: 'bad', label: 'not ready', sentences }
  if (state.writesPaused !== undefined) return { tone: 'bad', label: 'paused', sentences }
  return sentences.length === 0
    ? { tone: 'good', label: 'ready', sentences }
    : { tone: 'warn', label: 'ready', sentences }
}

function leftOutWords(markets: readonly string[] | undefined): string | undefined {
  if (markets === undefined || markets.length === 0) return undefined
  const shown = markets.slice(0, 5).join(', ')
  const more = markets.length > 5 ? ` and ${markets.length - 5} more` : ''
  return `Not listed, because the price feed has no price of them: ${shown}${more}.`
}

/** The freshness of the price feed. */
export interface FeedState {
  readonly tone: 'good' | 'bad' | 'warn'
  readonly sentence: string
}

/** Age of the newest price from which the feed counts as silent, as for the service. */
const SILENT_MS = 15_000

/** Age from which a single market counts as quiet. */
const QUIET_MS = 60_000

/** Returns the freshness of the feed by the times of all prices. */
export function feedWords(updatedAts: readonly number[], nowMs: number): FeedState {
  if (updatedAts.length === 0) return { tone: 'bad', sentence: 'No price is known.' }
  const newest = Math.max(...updatedAts)
  const age = Math.max(0, nowMs - newest)
  if (age > SILENT_MS)
    return { tone: 'bad', sentence: `The newest price is ${formatDuration(age)} old. Nothing fills until it moves.` }
  const quiet = updatedAts.filter((atMs) => nowMs - atMs > QUIET_MS).length
  const markets = `${updatedAts.length} markets`
  if (quiet === 0) return { tone: 'good', sentence: `Prices of ${markets} are coming in.` }
  return {
    tone: 'good',
    sentence: `Prices of ${markets} are coming in. ${quiet} ${quiet === 1 ? 'market has' : 'markets have'} not moved for a minute.`,
  }
}

/** The limit that a request was counted against. */
export interface RateLimit {
  readonly limit: number
  readonly remaining: number
  readonly resetSeconds: number
}

/** Reads the limit from the headers of an answer; null when they do not tell it. */
export function readRateLimit(headers: Pick<Headers, 'get'>): RateLimit | null {
  const [limit, remaining, resetSeconds] = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'].map((name) =>
    Number(headers.get(name) ?? Number.NaN),
  )
  if (limit === undefined || remaining === undefined || resetSeconds === undefined) return null
  return [limit, remaining, resetSeconds].every(Number.isFinite) ? { limit, remaining, resetSeconds } : null
}

/** Returns the difference of the clocks in words; null when it is too small to matter. */
export function clockWords(offMs: number): string | null {
  const seconds = Math.round(Math.abs(offMs) / 1_000)
  if (seconds < 2) return null
  return `The clock of this machine is ${formatDuration(seconds * 1_000)} ${offMs > 0 ? 'ahead' : 'behind'}. The page signs with the time of the service, so nothing is refused for it.`
}
