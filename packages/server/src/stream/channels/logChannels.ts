import type { LoggedEvent } from '../../store/loggedEvent.ts'
import { ApiError, type Address, type LogChannel } from '@bezel/protocol'
import type { AccountLog } from '../../journal/accountLog.ts'
import { eventMessage, snapshotMessage } from '../../journal/eventText.ts'
import type { ChainAgents } from '../../agents/chainAgents.ts'
import type { Caller } from '../../access/caller.ts'
import type { Channel, SubscribeLog, Subscription } from '../channel.ts'
import type { Connection } from '../connection.ts'
import { textFrame } from '../socket/frames.ts'
import { lapseOf } from '../session/lapseOf.ts'
import { createLogReader, type LogReader } from '../log/logReader.ts'
import type { LogSnapshots } from '../log/logSnapshots.ts'
import { createLogSubscription } from '../log/logSubscription.ts'
import { createSnapshotTaker } from '../log/snapshotTaker.ts'
import { createStreamCounts, type StreamCounts } from '../streamCounts.ts'
import { createTurns, type Turns } from '../../ground/turns.ts'

export interface LogChannelsOptions {
  readonly log: Pick<AccountLog, 'lastSeq' | 'firstSeq' | 'read' | 'onAppend'>
  readonly agents: Pick<ChainAgents, 'chain' | 'relayer' | 'registry' | 'delegates'>
  readonly snapshots: LogSnapshots
  /** Somebody listens to this trader's log: what emits no event is looked at in rounds. Returns what ends it. */
  readonly watch: (trader: Address) => () => void
  readonly now: () => number
  /** The store could not be read; it is asked again. */
  readonly onError: (error: unknown) => void
  /** Shared by all chains of a process. */
  readonly turns?: Turns
  readonly counts?: Pick<StreamCounts, 'channels'>
}

/** The four channels of traders' own events, of one chain. */
export type LogChannels = Readonly<Record<LogChannel, Channel<SubscribeLog>>> & { close(): void }

/** A trader's log that is listened to. */
interface OpenLog {
  readonly reader: LogReader
  readonly unwatch: () => void
  listeners: number
}

export function createLogChannels(options: LogChannelsOptions): LogChannels {
  const { log, agents, now, onError, turns = createTurns(), counts = createStreamCounts() } = options
  const takeSnapshot = createSnapshotTaker(log, options.snapshots)
  const logs = new Map<Address, OpenLog>()
  const stop = log.onAppend((trader) => logs.get(trader)?.reader.wake())

  function open(trader: Address): LogReader {
    const known = logs.get(trader)
    const opened = known ?? { reader: newReader(trader), unwatch: options.watch(trader), listeners: 0 }
    opened.listeners += 1
    if (known === undefined) logs.set(trader, opened)
    return opened.reader
  }

  function newReader(trader: Address): LogReader {
    return createLogReader({ trader, log, turns, frameOf, onError })
  }

  function release(trader: Address): void {
    const opened = logs.get(trader)!
    opened.listeners -= 1
    if (opened.listeners > 0) return
    logs.delete(trader)
    opened.unwatch()
  }

  const lapse = (caller: Caller): ApiError | undefined => lapseOf(caller, agents, now())

  async function beginOf(channel: LogChannel, trader: Address, fromSeq: number | undefined) {
    if (fromSeq !== undefined) {
      const place = await turns.soon(() => placeBefore(log, trader, fromSeq))
      return { after: place, snapshot: undefined }
    }
    const { seq, data } = await takeSnapshot(channel, trader)
    return { after: seq, snapshot: snapshotMessage(channel, { seq, timestampMs: now(), data }) }
  }

  async function subscribe(connection: Connection, { channel, fromSeq }: SubscribeLog): Promise<Subscription> {
    const { trader } = requireCaller(connection, lapse)
    const reader = open(trader)
    const onClose = (): void => release(trader)
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

/** Credentials that ended since they were shown end for the whole socket, so that it can show others. */
function requireCaller(connection: Connection, lapse: (caller: Caller) => ApiError | undefined): Caller {
  const { caller } = connection
  const refusal = caller === undefined ? undefined : lapse(caller)
  if (caller !== undefined && refusal === undefined) return caller
  if (refusal !== undefined) connection.lapse(refusal)
  throw new ApiError('UNAUTHENTICATED', 'This channel is private: send auth first.')
}

/** The event before the first one that a client asks for. Throws `VALIDATION_ERROR` when that can't follow without a hole. */
async function placeBefore(
  log: Pick<AccountLog, 'lastSeq' | 'firstSeq'>,
  trader: Address,
  fromSeq: number,
): Promise<number> {
  const [first, last] = [await log.firstSeq(trader), await log.lastSeq(trader)]
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
