import type { Address } from '@bezel/protocol'
import type { Subscription } from '../../../stream/channel.ts'
import { createShared } from '../../../ground/shared.ts'
import type { FacadeStreamSources } from '../facadeStreamSources.ts'

/** What happens to one user, told event by event to all who listen. */
export interface UserTale {
  /** Where it begins is known. */
  readonly opened: Promise<unknown>
  /** Something was appended to the user's log. */
  wake(): void
}

/** The tales of all users, each told by one reader. */
export interface UserTales<Tale extends UserTale> {
  /** Nothing that happens after it is resolved is left out. `begin` makes the subscription, which calls `onClose` when it ends. */
  subscribe(user: Address, begin: (tale: Tale, onClose: () => void) => Subscription): Promise<Subscription>
  close(): void
}

export function createUserTales<Tale extends UserTale>(
  log: Pick<FacadeStreamSources['log'], 'onAppend'>,
  open: (user: Address, isOver: () => boolean) => Tale,
): UserTales<Tale> {
  let isClosed = false
  const tales = createShared((user: Address): Tale => {
    const tale: Tale = open(user, () => isClosed || tales.get(user) !== tale)
    return tale
  })
  const stop = log.onAppend((user) => tales.get(user)?.wake())

  return {
    async subscribe(user, begin) {
      const tale = tales.hold(user)
      try {
        await tale.opened
      } catch (error) {
        tales.discard(user)
        throw error
      }
      return begin(tale, () => tales.release(user))
    },
    close() {
      isClosed = true
      stop()
    },
  }
}
