import {
  BezelError,
  type AccountEvent,
  type BezelClient,
  type LogEvent,
  type Order,
  type StreamStatus,
  type StreamSubscription,
} from '@bezel/sdk'
import { streamSettings } from './calmSocket.ts'
import { waitMs } from './follow.ts'

/** Receiver of the news of an account that is followed. */
export interface AccountListener {
  readonly signal: AbortSignal
  readonly onEvent: (event: LogEvent) => void
  /** Told what happened before the page was opened. */
  readonly onPast: (past: { readonly events: readonly AccountEvent[]; readonly orders: readonly Order[] }) => void
  readonly onStatus: (name: string, status: StreamStatus) => void
  /** Told that the key is not accepted any more. Nothing follows. */
  readonly onRefused: () => void
  /** Told what keeps the account away, and null once it is there. */
  readonly onProblem: (error: unknown) => void
}

const RETRY_MS = 2_000

/** Events of the past that are read, for timelines after a reload. */
const PAST_EVENTS = 300

const PAST_ORDERS = 50

const REFUSED_CODES: ReadonlySet<string> = new Set([
  'UNAUTHENTICATED',
  'API_KEY_UNKNOWN',
  'AGENT_UNKNOWN',
  'AGENT_REVOKED',
  'AGENT_EXPIRED',
  'TRADER_MISMATCH',
])

/** Returns true for an error that says that the credentials have ended, so that no retry helps. */
export function isRefusal(error: unknown): boolean {
  return error instanceof BezelError && REFUSED_CODES.has(error.code)
}

/**
 * Follows the four private channels of an account, each read in this one place. Outages are waited out, and what came
 * meanwhile is told by the log; where the service has forgotten that, it begins anew with a snapshot.
 */
export async function followAccount(client: BezelClient, listener: AccountListener): Promise<void> {
  const { signal } = listener
  void readPast(client, listener)
  while (!signal.aborted) {
    try {
      await readChannels(client, listener)
    } catch (error) {
      if (signal.aborted) return
      if (isRefusal(error)) return listener.onRefused()
      listener.onProblem(error)
    }
    await waitMs(RETRY_MS, signal)
  }
}

/** Reads the channels until one of them fails or the signal is aborted. */
async function readChannels(
  client: BezelClient,
  { signal, onEvent, onStatus, onProblem }: AccountListener,
): Promise<void> {
  const stream = client.stream({
    ...streamSettings(),
    onStatus: ({ socket, ...status }) => signal.aborted || onStatus(String(socket), status),
  })
  const close = (): void => stream.close()
  signal.addEventListener('abort', close, { once: true })
  async function read(subscription: StreamSubscription<LogEvent>): Promise<void> {
    for await (const event of subscription) {
      if (signal.aborted) return
      onProblem(null)
      onEvent(event)
    }
  }
  try {
    await Promise.all([stream.orders(), stream.positions(), stream.account(), stream.fills()].map(read))
  } finally {
    signal.removeEventListener('abort', close)
    close()
  }
}

/** Reads what happened lately. It only adds to timelines, so a failure is no problem. */
async function readPast(client: BezelClient, { signal, onPast }: AccountListener): Promise<void> {
  const [events, orders] = await Promise.all([
    lastEvents(client).catch(() => []),
    client.account
      .orderHistory({ limit: PAST_ORDERS })
      .then(({ data }) => data)
      .catch(() => []),
  ])
  if (!signal.aborted) onPast({ events, orders })
}

async function lastEvents(client: BezelClient): Promise<readonly AccountEvent[]> {
  const { lastSeq } = await client.account.events({ after: Number.MAX_SAFE_INTEGER, limit: 1 })
  const { data } = await client.account.events({ after: Math.max(0, lastSeq - PAST_EVENTS), limit: PAST_EVENTS })
  return data
}
