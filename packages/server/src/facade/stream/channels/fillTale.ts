import { setImmediate as nextTick } from 'node:timers/promises'
import type { Address } from '@bezel/protocol'
import { listFills } from '../../../store/fillStore.ts'
import type { ChannelCounts } from '../../../stream/streamCounts.ts'
import { readFacadeFills, type FacadeFill } from '../../userFills.ts'
import type { FacadeStreamSources } from '../facadeStreamSources.ts'
import { createRefresher } from '../../../ground/refresher.ts'
import type { UserTale } from './userTales.ts'

/** Told of new executions, oldest first. */
export type FillListener = (fills: readonly FacadeFill[]) => void

/** The executions of one user. */
export interface FillTale extends UserTale {
  readonly user: Address
  /** Returns what ends it. */
  onFills(listener: FillListener): () => void
  /** The last ones, newest first. Read once for all who ask before there is another one. */
  recent(): Promise<readonly FacadeFill[]>
}

export interface FillTaleOptions extends Pick<FacadeStreamSources, 'reads' | 'turns' | 'onError'> {
  readonly user: Address
  readonly isOver: () => boolean
}

/** What listens to executions on one socket. */
export interface FillSubscriptionOptions {
  readonly onClose: () => void
  readonly onError: (error: unknown) => void
  readonly counts: ChannelCounts
}

/** As many as are read at once. */
const MAX_FILLS = 500

/** Ids of executions grow, so what is above the last one that was told is new. */
export function openFillTale({ reads, turns, user, isOver, onError }: FillTaleOptions): FillTale {
  const listeners = new Set<FillListener>()
  let lastTid = 0
  let known: { readonly tid: number; readonly reading: Promise<readonly FacadeFill[]> } | undefined

  async function newestTid(): Promise<number> {
    const [newest] = await listFills(reads.sql, { chain: reads.chain, trader: user, cursor: undefined, limit: 1 })
    return newest?.fill.id ?? 0
  }

  const read = (): Promise<FacadeFill[]> => readFacadeFills(reads, user, { sinceMs: 0, limit: MAX_FILLS })

  async function look(): Promise<void> {
    await opened
    // What is kept in memory follows a commit at once, but not in the same instant.
    await nextTick()
    if ((await turns.soon(newestTid)) <= lastTid) return
    const fills = (await turns.soon(read)).filter(({ tid }) => tid > lastTid).toReversed()
    lastTid = Math.max(lastTid, ...fills.map(({ tid }) => tid))
    if (fills.length > 0) for (const listener of listeners) listener(fills)
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
    wake: createRefresher({ work: look, isOver, onError }).ask,
    onFills(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
