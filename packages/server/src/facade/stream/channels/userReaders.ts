import type { Address } from '@bezel/protocol'
import { createRefCounted } from '../../../ground/refCounted.ts'
import type { FacadeStreamSources } from './facadeChannel.ts'

/** Reads what happens to one user, once for all subscribers. */
export interface UserReader<News> {
  readonly user: Address
  /** Resolves when the starting point is known. */
  readonly opened: Promise<unknown>
  /** Reads on, after something was appended to the user's log. */
  wake(): void
  /** Calls `listener` with news, oldest first, until the returned function is called. */
  onNews(listener: (news: readonly News[]) => void): () => void
}

/** The readers of all users with a subscriber, one for each. */
export interface UserReaders<Reader> {
  /** Returns the reader of a user, once its starting point is known. Each one must be released once. */
  hold(user: Address): Promise<Reader>
  release(user: Address): void
  close(): void
}

export function createUserReaders<Reader extends UserReader<unknown>>(
  log: Pick<FacadeStreamSources['log'], 'onAppend'>,
  open: (user: Address, isOver: () => boolean) => Reader,
): UserReaders<Reader> {
  let isClosed = false
  const readers = createRefCounted((user: Address): Reader => {
    const reader: Reader = open(user, () => isClosed || readers.get(user) !== reader)
    return reader
  })
  const stop = log.onAppend((user) => readers.get(user)?.wake())

  return {
    async hold(user) {
      const reader = readers.hold(user)
      try {
        await reader.opened
      } catch (error) {
        readers.discard(user)
        throw error
      }
      return reader
    },
    release: readers.release,
    close() {
      isClosed = true
      stop()
    },
  }
}
