import type { SigningDomain } from '@bezel/protocol'
import type { PrivateKeyAccount } from 'viem/accounts'
import { WebSocket } from 'ws'
import { until } from '@bezel/testkit/until.ts'
import { authMessage, STREAM_PATH, type Received } from '../stream/streamClient.ts'
import { createLatencies, type Latencies } from './latencies.ts'

/** A client that does everything right and must not be affected by those that don't. */
export interface GoodClient {
  /** Latencies from the service's receipt of a price to its arrival here. */
  readonly ticks: Latencies
  /** Latencies from a ping to its pong. */
  readonly pings: Latencies
  /**
   * Everything that a good client should not see: errors, a close, missing sequence numbers, more than one snapshot.
   */
  readonly problems: readonly string[]
  /** Ids of the orders that the log reported as prepared. */
  readonly prepared: ReadonlySet<string>
  close(): void
}

const BOOK_MARKET = 'BTC/USD'
/** Time between two pings. With the pongs, well below the 20 messages that a client may send in a second. */
const PING_MS = 100

/** Opens the client. Resolves when it has a snapshot of all its channels: prices, a book, and its own orders. */
export async function openGoodClient(
  url: string,
  domain: SigningDomain,
  agent: PrivateKeyAccount,
): Promise<GoodClient> {
  const socket = new WebSocket(url.replace(/^http/, 'ws') + STREAM_PATH)
  const problems: string[] = []
  const prepared = new Set<string>()
  const ticks = createLatencies()
  const pings = createLatencies()
  const lastSeqs = new Map<string, number>()
  let isClosing = false
  let pingedMs: number | undefined
  const say = (message: unknown): void => socket.send(JSON.stringify(message))

  const answers: Readonly<Record<string, (json: Received['json']) => unknown>> = {
    async hello() {
      say({ op: 'subscribe', channel: 'prices' })
      say({ op: 'subscribe', channel: 'book', market: BOOK_MARKET })
      say(await authMessage(domain, agent))
      say({ op: 'subscribe', channel: 'orders' })
    },
    ping: ({ timestamp }) => say({ op: 'pong', timestamp }),
    pong() {
      pings.add(Date.now(), performance.now() - pingedMs!)
      pingedMs = undefined
    },
    error: (json) => problems.push(JSON.stringify(json)),
  }

  function hearData({ channel, snapshot, seq, data }: Received['json']): void {
    const last = lastSeqs.get(channel)
    lastSeqs.set(channel, seq)
    if (snapshot !== (last === undefined)) problems.push(`a snapshot of ${channel} at ${seq}, after ${last}`)
    const isNext = channel === 'orders' ? seq > last! : seq === last! + 1
    if (last !== undefined && !isNext) problems.push(`${channel} went from ${last} to ${seq}`)
    if (snapshot) return
    const nowMs = Date.now()
    if (channel === 'prices') ticks.add(nowMs, nowMs - latestOf(data))
    if (channel === 'orders' && data.status === 'prepared') prepared.add(data.id)
  }

  socket.on('message', (bytes) => {
    const json = JSON.parse(String(bytes)) as Received['json']
    if (json.op === undefined) hearData(json)
    else void answers[json.op]?.(json)
  })
  socket.on('error', (error) => problems.push(error.message))
  socket.on('close', (code) => {
    if (!isClosing) problems.push(`the good client was closed with ${code}`)
  })
  await until('all snapshots', () => lastSeqs.size === 3)
  const timer = setInterval(() => {
    if (pingedMs !== undefined) return
    pingedMs = performance.now()
    say({ op: 'ping' })
  }, PING_MS)

  return {
    ticks,
    pings,
    problems,
    prepared,
    close() {
      isClosing = true
      clearInterval(timer)
      socket.close(1000)
    },
  }
}

function latestOf(prices: readonly { readonly updatedAt: number }[]): number {
  return Math.max(...prices.map(({ updatedAt }) => updatedAt))
}
