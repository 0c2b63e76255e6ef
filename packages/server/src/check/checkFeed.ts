import type { Price } from '@bezel/protocol'
import { createBackendPages } from '../market/feed/backendPages.ts'
import { createFeedPages, FeedUnavailableError } from '../market/feed/pages.ts'
import { parseFrame } from '../market/feed/parseFrame.ts'
import { counted, failure, hostOf, lengthOf, ok, quoted, warning, type Finding, type Section } from './finding.ts'
import { readClock, type ClockReading } from './probe.ts'
import { listenTo } from './sockets.ts'

/** The price feed, as it was found. */
interface CheckedFeed {
  readonly section: Section
  /** Prices by pair index; `undefined` when it gave none. */
  readonly prices: ReadonlyMap<number, Price> | undefined
  readonly clock: ClockReading | undefined
}

const STREAM_PATH = '/v4'

/** The longest wait for a heartbeat, which comes every second: as long as the service waits. */
const HEARTBEAT_WAIT_MS = 10_000

/** Checks the price feed. Never throws. */
export async function checkFeed(feedUrl: string, now: () => number): Promise<CheckedFeed> {
  const stream = await checkStream(feedUrl)
  const charts = await readCharts(feedUrl)
  return {
    section: { subject: `feed (${hostOf(feedUrl)})`, findings: [stream, charts.finding] },
    prices: charts.prices,
    clock: charts.prices === undefined ? undefined : await readFeedClock(feedUrl, now),
  }
}

const CORRECT = 'correct feedUrl in the chains file or BEZEL_FEED_URL, and see that this machine reaches it'

async function checkStream(feedUrl: string): Promise<Finding> {
  const heard = await listenTo({
    url: feedUrl.replace(/^http/, 'ws') + STREAM_PATH,
    waitMs: HEARTBEAT_WAIT_MS,
    look: (text) => (parseFrame(text)?.kind === 'heartbeat' ? true : undefined),
  })
  if (heard.kind === 'found') return ok('heartbeat', `The stream's heartbeat came after ${lengthOf(heard.elapsedMs)}.`)
  if (heard.kind === 'closed') {
    return failure(
      'heartbeat',
      `The stream does not connect, or ends at once (${quoted(heard.words, feedUrl)}): ${CORRECT}.`,
    )
  }
  const state = heard.isOpen ? 'has no heartbeat' : 'does not connect'
  return failure('heartbeat', `The stream ${state} in ${lengthOf(HEARTBEAT_WAIT_MS)}: ${CORRECT}.`)
}

async function readCharts(feedUrl: string): Promise<Pick<CheckedFeed, 'prices'> & { readonly finding: Finding }> {
  try {
    const { marks } = await createFeedPages(feedUrl).snapshot()
    const finding = ok('charts', `/charts has a price of ${counted(marks.length, 'pair')}.`)
    return { prices: new Map(marks), finding }
  } catch (error) {
    if (!(error instanceof FeedUnavailableError)) throw error
    const finding = failure('charts', `No prices are read (${quoted(error.message, feedUrl)}): ${CORRECT}.`)
    return { prices: undefined, finding }
  }
}

const DATE_TIMEOUT_MS = 5_000

/** Reads the feed's clock; `undefined` when it does not tell. */
async function readFeedClock(feedUrl: string, now: () => number): Promise<ClockReading | undefined> {
  const sentAtMs = now()
  try {
    const answer = await fetch(`${feedUrl}/charts`, { method: 'HEAD', signal: AbortSignal.timeout(DATE_TIMEOUT_MS) })
    return readClock(answer.headers.get('date'), sentAtMs, now())
  } catch {
    return undefined
  }
}

/** Checks that a chain's backend says which groups of markets are open. Never throws. */
export async function checkBackend(backendUrl: string): Promise<Finding> {
  const backend = `The backend (${hostOf(backendUrl)})`
  const remedy = 'the trading hours of New York count instead. Correct or leave out backendUrl in the chains file'
  try {
    const groups = await createBackendPages(backendUrl).openGroups()
    if (groups === undefined) return warning('backend', `${backend} does not say what is open: ${remedy}.`)
    return ok('backend', `${backend} says what is open of ${[...groups.keys()].join(', ')}.`)
  } catch (error) {
    if (!(error instanceof FeedUnavailableError)) throw error
    const words = quoted(error.message.replace(/^the feed (.*) \/\S+/, 'it $1'), backendUrl)
    return warning('backend', `${backend} does not say what is open (${words}): ${remedy}.`)
  }
}
