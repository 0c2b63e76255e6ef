import type { Address } from '@bezel/protocol'
import type { Subscription } from '../../../stream/channel.ts'
import { createRefCounted } from '../../../ground/refCounted.ts'
import type { FacadeStreamSources } from './facadeChannel.ts'

/** Reads the events of one user, once for all subscribers. */
export interface UserReader {
  /** Resolves when the starting point is known. */
  readonly opened: Promise<unknown>
  /** Reads on, after something was appended to the user's log. */
  wake(): void
}

/** The readers of all users with a subscriber, one for each. */
export interface UserReaders<Reader extends UserReader> {
  /**
   * Subscribes to a user. No event after the promise resolves is missed. `begin` creates the subscription, which calls
   * `onClose` when it ends.
   */
  subscribe(user: Address, begin: (reader: Reader, onClose: () => void) => Subscription): Promise<Subscription>
  close(): void
}

export function createUserReaders<Reader extends UserReader>(
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
    async subscribe(user, begin) {
      const reader = readers.hold(user)
      try {
        await reader.opened
      } catch (error) {
        readers.discard(user)
        throw error
      }
      return begin(reader, () => readers.release(user))
    },
    close() {
      isClosed = true
      stop()
    },
  }
}
