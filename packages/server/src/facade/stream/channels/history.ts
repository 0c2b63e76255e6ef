import { setImmediate as nextTick } from 'node:timers/promises'
import type { Address } from '@bezel/protocol'
import { UNMETERED, type RowMeter } from '../../../access/weights.ts'
import { createPublisher } from '../../../ground/publisher.ts'
import { createSingleFlight } from '../../../ground/singleFlight.ts'
import { listFills } from '../../../store/fillStore.ts'
import type { ChannelCounts } from '../../../stream/streamCounts.ts'
import type { FacadeReads } from '../../facadeReads.ts'
import type { HistoryRequest } from '../../userFills.ts'
import { lower } from '../../info/infoRequest.ts'
import { channelText, type FacadeChannel, type FacadeStreamSources } from './facadeChannel.ts'
import { createUserChannel } from './userChannel.ts'
import { createUserReaders, type UserReader, type UserReaders } from './userReaders.ts'

// Channels of what is made from a user's history: the last ones, newest first, and then each new one once.

/** Something made from an entry of the history, with the id of that entry. Ids increase. */
interface FromEntry {
  readonly tid: number
}

/** Lists what is made from a user's history, newest first. */
type ReadHistory<Told> = (reads: FacadeReads, user: Address, of: HistoryRequest) => Promise<readonly Told[]>

/** The history of one user, as a channel tells it. */
export interface HistoryReader<Told> extends UserReader<Told> {
  /** Reads the last ones, newest first, and charges them to the meter. They are read once until there is a new one. */
  recent(meter: RowMeter): Promise<readonly Told[]>
}

interface HistoryReaderOptions<Told> extends Pick<FacadeStreamSources, 'reads' | 'turns' | 'onError'> {
  readonly user: Address
  readonly isOver: () => boolean
  readonly readHistory: ReadHistory<Told>
}

/** Number of entries of one read. */
const LIMIT = 500

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
  let known: { readonly tid: number; readonly rows: readonly Told[] } | undefined

  async function newestTid(): Promise<number> {
    const [newest] = await listFills(reads.sql, { chain: reads.chain, trader: user, cursor: undefined, limit: 1 })
    return newest?.fill.id ?? 0
  }

  const read = (meter: RowMeter): Promise<readonly Told[]> =>
    readHistory(reads, user, { limit: LIMIT, from: 'newest', meter })

  async function look(): Promise<void> {
    await opened
    // The in-memory state is updated right after a commit, but not in the same tick of the event loop.
    await nextTick()
    const newest = await turns.soon(newestTid)
    if (newest <= lastTid) return
    const news = (await turns.soon(() => read(UNMETERED))).filter(({ tid }) => tid > lastTid).toReversed()
    lastTid = Math.max(newest, ...news.map(({ tid }) => tid))
    if (news.length > 0) listeners.publish(news)
  }

  async function recent(meter: RowMeter): Promise<readonly Told[]> {
    const tid = lastTid
    const before = known
    if (before?.tid !== tid) return (known = { tid, rows: await turns.later(() => read(meter)) }).rows
    await meter.add(before.rows.length)
    return before.rows
  }

  async function findStart(): Promise<void> {
    // Throws `NOT_READY` while not everything of the user is known.
    reads.positionsOf(user)
    lastTid = await newestTid()
  }

  const opened = turns.soon(findStart)
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
}

/** Creates a channel. It begins with the last ones, newest first, marked as a snapshot. */
export function createHistoryChannel<Told extends FromEntry>(
  readers: UserReaders<HistoryReader<Told>>,
  { name, field, write, counts }: HistoryChannelOptions<Told>,
): FacadeChannel {
  const textOf = (head: object, told: readonly Told[]): string =>
    channelText(name, JSON.stringify({ ...head, [field]: told.map(write) }))
  return createUserChannel<Told, HistoryReader<Told>>({
    readers,
    counts,
    messageOf: (news, user) => textOf({ user: lower(user) }, news),
    async begin(reader, meter) {
      const recent = await reader.recent(meter)
      const tids = new Set(recent.map(({ tid }) => tid))
      return {
        text: textOf({ isSnapshot: true, user: lower(reader.user) }, recent),
        isTold: ({ tid }) => tids.has(tid),
      }
    },
  })
}
