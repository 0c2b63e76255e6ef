import { setImmediate as nextTick } from 'node:timers/promises'
import type { Address } from '@bezel/protocol'
import { createPublisher } from '../../../ground/publisher.ts'
import { createSingleFlight } from '../../../ground/singleFlight.ts'
import { listFills } from '../../../store/fillStore.ts'
import type { Connection, Subscription } from '../../../stream/channel.ts'
import type { ChannelCounts } from '../../../stream/streamCounts.ts'
import type { FacadeReads } from '../../facadeReads.ts'
import { lower, userOf } from '../../info/infoRequest.ts'
import { channelText, type FacadeChannel, type FacadeStreamSources } from './facadeChannel.ts'
import { createUserReaders, type UserReader, type UserReaders } from './userReaders.ts'

// Channels of what is made from a user's history: the last ones, newest first, and then each new one once.

/** Something made from an entry of the history, with the id of that entry. Ids increase. */
interface FromEntry {
  readonly tid: number
}

/** Lists what is made from a user's history, newest first. */
type ReadHistory<Told> = (
  reads: FacadeReads,
  user: Address,
  since: { readonly sinceMs: number; readonly limit: number },
) => Promise<readonly Told[]>

/** The history of one user, as a channel tells it. */
export interface HistoryReader<Told> extends UserReader {
  readonly user: Address
  /** Calls `listener` with new ones, oldest first, until the returned function is called. */
  onNews(listener: (news: readonly Told[]) => void): () => void
  /** Reads the last ones, newest first. Callers share one read until there is a new entry. */
  recent(): Promise<readonly Told[]>
}

interface HistoryReaderOptions<Told> extends Pick<FacadeStreamSources, 'reads' | 'turns' | 'onError'> {
  readonly user: Address
  readonly isOver: () => boolean
  readonly readHistory: ReadHistory<Told>
}

/** Largest number of entries in one read. */
const MAX_ENTRIES = 500

/** Creates the readers of all users with a subscriber. Channels that tell the same share them. */
export function createHistoryReaders<Told extends FromEntry>(
  sources: FacadeStreamSources,
  readHistory: ReadHistory<Told>,
): UserReaders<HistoryReader<Told>> {
  return createUserReaders(sources.log, (user, isOver) => openReader({ ...sources, user, isOver, readHistory }))
}

/** Opens the reader of one user. Every id above the last one that was read is new. */
function openReader<Told extends FromEntry>(of: HistoryReaderOptions<Told>): HistoryReader<Told> {
  const { reads, turns, user, isOver, onError, readHistory } = of
  const listeners = createPublisher<readonly Told[]>()
  let lastTid = 0
  let known: { readonly tid: number; readonly reading: Promise<readonly Told[]> } | undefined

  async function newestTid(): Promise<number> {
    const [newest] = await listFills(reads.sql, { chain: reads.chain, trader: user, cursor: undefined, limit: 1 })
    return newest?.fill.id ?? 0
  }

  const read = (): Promise<readonly Told[]> => readHistory(reads, user, { sinceMs: 0, limit: MAX_ENTRIES })

  async function look(): Promise<void> {
    await opened
    // The in-memory state is updated right after a commit, but not in the same tick of the event loop.
    await nextTick()
    const newest = await turns.soon(newestTid)
    if (newest <= lastTid) return
    const news = (await turns.soon(read)).filter(({ tid }) => tid > lastTid).toReversed()
    lastTid = Math.max(newest, ...news.map(({ tid }) => tid))
    if (news.length > 0) listeners.publish(news)
  }

  function recent(): Promise<readonly Told[]> {
    if (known?.tid === lastTid) return known.reading
    const made = { tid: lastTid, reading: turns.later(read) }
    known = made
    made.reading.catch(() => known === made && (known = undefined))
    return made.reading
  }

  const opened = turns.soon(async () => void (lastTid = await newestTid()))
  return {
    user,
    opened,
    recent,
    wake: createSingleFlight({ work: look, isOver, onError }).ask,
    onNews: listeners.subscribe,
  }
}

interface HistoryChannelOptions<Told> {
  readonly name: string
  /** Field of a message that lists what is told. */
  readonly field: string
  /** Returns one as the channel writes it. */
  readonly write: (told: Told) => object
  readonly counts: ChannelCounts
  readonly onError: (error: unknown) => void
}

/** Creates a channel. It begins with the last ones, newest first, marked as a snapshot. */
export function createHistoryChannel<Told extends FromEntry>(
  readers: UserReaders<HistoryReader<Told>>,
  options: HistoryChannelOptions<Told>,
): FacadeChannel {
  return {
    parse(body) {
      const user = userOf(body)
      return {
        key: user,
        user,
        open: (connection) =>
          readers.subscribe(user, (reader, onClose) => subscribeHistory(reader, connection, onClose, options)),
      }
    },
    close: readers.close,
  }
}

/** Subscribes one socket. */
function subscribeHistory<Told extends FromEntry>(
  reader: HistoryReader<Told>,
  connection: Connection,
  onClose: () => void,
  { name, field, write, counts, onError }: HistoryChannelOptions<Told>,
): Subscription {
  const user = lower(reader.user)
  /** News that arrived before the snapshot was sent; `undefined` after it. */
  let early: Told[] | undefined = []
  let stop = (): void => undefined
  let isOpen = true

  function onNews(news: readonly Told[]): void {
    if (early === undefined) send({ user }, news)
    else early.push(...news)
  }

  async function begin(): Promise<void> {
    const recent = await reader.recent()
    if (!isOpen || early === undefined) return
    const told = new Set(recent.map(({ tid }) => tid))
    const missed = early.filter(({ tid }) => !told.has(tid))
    early = undefined
    send({ isSnapshot: true, user }, recent)
    if (missed.length > 0) send({ user }, missed)
  }

  function send(head: object, told: readonly Told[]): void {
    connection.send(channelText(name, JSON.stringify({ ...head, [field]: told.map(write) })))
    counts.sent += 1
  }

  const begun = createSingleFlight({ work: begin, onError, isOver: () => !isOpen || early === undefined })
  return {
    start() {
      stop = reader.onNews(onNews)
      begun.ask()
    },
    close() {
      isOpen = false
      stop()
      onClose()
    },
  }
}
