import { LOG_CHANNELS, type LogChannel, type SigningDomain } from '@bezel/protocol'
import { setTimeout as sleep } from 'node:timers/promises'
import type { PrivateKeyAccount } from 'viem/accounts'
import { authMessage, openStream, type Received, type StreamClient } from './streamClient.ts'

/** An event as a reader got it; `data` is the exact text. */
export interface ReadEvent {
  readonly seq: number
  readonly channel: LogChannel
  readonly timestamp: number
  readonly block: number | null
  readonly reverted: boolean
  readonly data: string
}

/** Reads a trader's log over connections that break often. Each new one resumes where the last one ended. */
export interface ResumingReader {
  /** The events, in the order of arrival. */
  readonly events: readonly ReadEvent[]
  /** The snapshots received; a resuming reader must get none. */
  readonly snapshots: readonly string[]
  /** Returns true while connected. */
  isOpen(): boolean
  /** Cuts the current connection, if any. */
  cut(): void
  /** Returns the number of connections made. */
  connections(): number
  stop(): Promise<void>
}

export function startResumingReader(of: {
  readonly url: () => string
  readonly domain: SigningDomain
  readonly agent: PrivateKeyAccount
}): ResumingReader {
  const events: ReadEvent[] = []
  const snapshots: string[] = []
  const lastSeqs = new Map<LogChannel, number>(LOG_CHANNELS.map((channel) => [channel, 0]))
  const stopping = new AbortController()
  let connections = 0
  let current: StreamClient | undefined

  function take({ text, json }: Received): void {
    // A node that was not ready is asked again on another connection.
    if (json.op === 'error') current?.cut()
    if (typeof json.seq !== 'number') return
    const { channel, snapshot, seq, timestamp, block, reverted } = json
    if (snapshot) snapshots.push(text)
    lastSeqs.set(channel, seq)
    events.push({ seq, channel, timestamp, block, reverted, data: text.slice(text.indexOf('"data":') + 7, -1) })
  }

  async function connect(): Promise<void> {
    const stream = await openStream(of.url(), { onMessage: take })
    current = stream
    connections += 1
    stream.send(await authMessage(of.domain, of.agent))
    for (const channel of LOG_CHANNELS) {
      stream.send({ op: 'subscribe', channel, fromSeq: lastSeqs.get(channel)! + 1 })
    }
    await stream.closed
    if (current === stream) current = undefined
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      // The connection was refused or cut, or the service is down: try again.
      await connect().catch(() => sleep(20))
    }
  }

  const done = run()
  return {
    events,
    snapshots,
    isOpen: () => current !== undefined,
    cut() {
      current?.cut()
      current = undefined
    },
    connections: () => connections,
    async stop() {
      stopping.abort()
      current?.cut()
      await done
    },
  }
}
