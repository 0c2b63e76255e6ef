import type { LoggedEvent } from '../../store/accountEventStore.ts'
import { ApiError, type Address, type LogChannel } from '@bezel/protocol'
import type { AccountLog } from '../../journal/accountLog.ts'
import { eventMessage, snapshotMessage } from '../../journal/readPage.ts'
import type { ChainAgents } from '../../agents/chainAgents.ts'
import type { Caller } from '../../access/caller.ts'
import type { Channel, SubscribeLog, Subscription, Connection } from '../channel.ts'
import { textFrame } from '../socket/frames.ts'
import { lapseOf } from '../session/streamAuth.ts'
import { createLogReader } from '../log/logReader.ts'
import { type LogSnapshots, createSnapshotTaker } from '../log/logSnapshots.ts'
import { createLogSubscription } from '../log/logSubscription.ts'
import { createStreamCounts, type StreamCounts } from '../streamCounts.ts'
import { notReady } from '../../ground/unavailable.ts'
import { createRefCounted } from '../../ground/refCounted.ts'
import { createTimeSliced, type TimeSliced } from '../../ground/timeSliced.ts'

export interface LogChannelsOptions {
  readonly log: Pick<AccountLog, 'lastSeq' | 'settled' | 'keptSeqs' | 'read' | 'onAppend'>
  readonly agents: Pick<ChainAgents, 'chain' | 'relayer' | 'registry' | 'delegates'>
  readonly snapshots: LogSnapshots
  /** Returns true when everything that a trader has on the chain is known. */
  readonly isKnown: (trader: Address) => boolean
  /**
   * Adds the trader to the background rounds that read what emits no event, while its log has subscribers. Returns a
   * function that removes it.
   */
  readonly watch: (trader: Address) => () => void
  readonly now: () => number
  /** Receives errors of reads of the store, which are retried. */
  readonly onError: (error: unknown) => void
  /** Queue of the store's reads, shared by all chains of a process. */
  readonly turns?: TimeSliced
  readonly counts?: Pick<StreamCounts, 'channels'>
}

/** The four private channels of one chain: the events of a trader's own log. */
export type LogChannels = Readonly<Record<LogChannel, Channel<SubscribeLog>>> & { close(): void }

export function createLogChannels(options: LogChannelsOptions): LogChannels {
  const { log, agents, now, onError, turns = createTimeSliced(), counts = createStreamCounts() } = options
  const takeSnapshot = createSnapshotTaker(log, options.snapshots)
  /** The logs that have subscribers. */
  const logs = createRefCounted(
    (trader: Address) => ({
      reader: createLogReader({ trader, log, turns, frameOf, onError }),
      unwatch: options.watch(trader),
    }),
    { onDrop: ({ unwatch }) => unwatch() },
  )
  const stop = log.onAppend((trader) => logs.get(trader)?.reader.wake())

  const lapse = (caller: Caller): ApiError | undefined => lapseOf(caller, agents, now())

  async function beginOf(channel: LogChannel, trader: Address, fromSeq: number | undefined) {
    if (fromSeq !== undefined) {
      // The caller may have been revoked on another node.
      await log.settled()
      const place = await turns.soon(() => placeBefore(log, trader, fromSeq))
      return { after: place, snapshot: undefined }
    }
    const { seq, data } = await takeSnapshot(channel, trader)
    return { after: seq, snapshot: snapshotMessage(channel, { seq, timestampMs: now(), data }) }
  }

  async function subscribe(connection: Connection, { channel, fromSeq }: SubscribeLog): Promise<Subscription> {
    const { trader } = requireCaller(connection, lapse)
    if (!options.isKnown(trader)) throw notReady('snapshot')
    const { reader } = logs.hold(trader)
    const onClose = (): void => logs.release(trader)
    const onSent = (count: number): void => void (counts.channels[channel].sent += count)
    try {
      const begin = await beginOf(channel, trader, fromSeq)
      const of = { trader, channel, reader, turns, frameOf, lapseOf: lapse, onSent, onError, onClose }
      return createLogSubscription(connection, { ...of, ...begin })
    } catch (error) {
      onClose()
      throw error
    }
  }

  const channel: Channel<SubscribeLog> = { subscribe }
  return { orders: channel, fills: channel, positions: channel, account: channel, close: stop }
}

/**
 * Returns the caller. Credentials that became invalid end the authentication of the whole socket, so that the client
 * can send others.
 */
function requireCaller(connection: Connection, lapse: (caller: Caller) => ApiError | undefined): Caller {
  const { caller } = connection
  const refusal = caller === undefined ? undefined : lapse(caller)
  if (caller !== undefined && refusal === undefined) return caller
  if (refusal !== undefined) connection.lapse(refusal)
  throw new ApiError('UNAUTHENTICATED', 'This channel is private: send auth first.')
}

/**
 * Returns the sequence number before the first event that a client asks for. Throws `VALIDATION_ERROR` when the events
 * from there on would have a gap.
 */
async function placeBefore(log: Pick<AccountLog, 'keptSeqs'>, trader: Address, fromSeq: number): Promise<number> {
  const { first, last } = await log.keptSeqs(trader)
  if (fromSeq > last + 1) throw badSeq(`must be at most ${last + 1}: the last event is ${last}`)
  if (fromSeq < first) throw badSeq(`must be at least ${first}: older events are no longer kept`)
  return fromSeq - 1
}

function badSeq(message: string): ApiError {
  return new ApiError('VALIDATION_ERROR', `fromSeq ${message}.`, { issues: [{ path: 'fromSeq', message }] })
}

function frameOf(event: LoggedEvent): Buffer {
  return textFrame(eventMessage(event))
}
