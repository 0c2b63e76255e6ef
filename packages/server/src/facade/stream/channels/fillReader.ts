import { setImmediate as nextTick } from 'node:timers/promises'
import type { Address } from '@bezel/protocol'
import { listFills } from '../../../store/fillStore.ts'
import { readFacadeFills, type FacadeFill } from '../../userFills.ts'
import type { FacadeStreamSources } from './facadeChannel.ts'
import { createPublisher } from '../../../ground/publisher.ts'
import { createSingleFlight } from '../../../ground/singleFlight.ts'
import { createUserReaders, type UserReader, type UserReaders } from './userReaders.ts'

/** Receives new executions, oldest first. */
type FillListener = (fills: readonly FacadeFill[]) => void

/** The executions of one user. */
export interface FillReader extends UserReader {
  readonly user: Address
  /** Calls `listener` with new executions, until the returned function is called. */
  onFills(listener: FillListener): () => void
  /** Reads the last executions, newest first. Callers share one read until there is a new execution. */
  recent(): Promise<readonly FacadeFill[]>
}

interface FillReaderOptions extends Pick<FacadeStreamSources, 'reads' | 'turns' | 'onError'> {
  readonly user: Address
  readonly isOver: () => boolean
}

/** Largest number of executions in one read. */
const MAX_FILLS = 500

/** Creates the readers of all users with a subscriber. `userFills` and `userEvents` share them. */
export function createFillReaders(sources: FacadeStreamSources): UserReaders<FillReader> {
  return createUserReaders(sources.log, (user, isOver) => openFillReader({ ...sources, user, isOver }))
}

/** Opens the reader of one user. Ids of executions increase, so every id above the last one published is new. */
function openFillReader({ reads, turns, user, isOver, onError }: FillReaderOptions): FillReader {
  const listeners = createPublisher<readonly FacadeFill[]>()
  let lastTid = 0
  let known: { readonly tid: number; readonly reading: Promise<readonly FacadeFill[]> } | undefined

  async function newestTid(): Promise<number> {
    const [newest] = await listFills(reads.sql, { chain: reads.chain, trader: user, cursor: undefined, limit: 1 })
    return newest?.fill.id ?? 0
  }

  const read = (): Promise<FacadeFill[]> => readFacadeFills(reads, user, { sinceMs: 0, limit: MAX_FILLS })

  async function look(): Promise<void> {
    await opened
    // The in-memory state is updated right after a commit, but not in the same tick of the event loop.
    await nextTick()
    if ((await turns.soon(newestTid)) <= lastTid) return
    const fills = (await turns.soon(read)).filter(({ tid }) => tid > lastTid).toReversed()
    lastTid = Math.max(lastTid, ...fills.map(({ tid }) => tid))
    if (fills.length > 0) listeners.publish(fills)
  }

  function recent(): Promise<readonly FacadeFill[]> {
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
    onFills: listeners.subscribe,
  }
}
