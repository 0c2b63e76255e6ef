import type { LoggedEvent } from '../../../store/loggedEvent.ts'
import { setImmediate as nextTick } from 'node:timers/promises'
import type { Address } from '@bezel/protocol'
import { readPage } from '../../../journal/readPage.ts'
import type { Subscription } from '../../../stream/channel.ts'
import type { Connection } from '../../../stream/connection.ts'
import { textFrame } from '../../../stream/socket/frames.ts'
import type { ChannelCounts } from '../../../stream/streamCounts.ts'
import type { FacadeOrderStatus } from '../../facadeOrder.ts'
import { channelText } from '../facadeTexts.ts'
import type { FacadeStreamSources } from '../facadeStreamSources.ts'
import { createRefresher } from '../../../ground/refresher.ts'
import { orderOfEvent, orderUpdate } from './orderUpdate.ts'
import { createTriggerNews } from './triggerNews.ts'
import type { UserTale } from './userTales.ts'

const PAGE = { limit: 200, maxBytes: 1024 * 1024 }

export interface OrderTaleOptions extends Pick<FacadeStreamSources, 'reads' | 'log' | 'turns' | 'onError'> {
  readonly user: Address
  readonly counts: ChannelCounts
  readonly isOver: () => boolean
}

/** One user's orders. */
export interface OrderTale extends UserTale {
  /** `onClose` is called once, when it ends. */
  subscribe(connection: Connection, onClose: () => void): Subscription
}

/** What becomes of one user's orders from now on, one entry for each event of its log, made once for all who listen. */
export function openOrderTale(options: OrderTaleOptions): OrderTale {
  const { reads, log, turns, user, counts, isOver, onError } = options
  const listeners = new Set<Connection>()
  const triggers = createTriggerNews(reads, user)
  /** Everything up to it was told. */
  let place = 0

  async function open(): Promise<void> {
    await triggers.look()
    place = await turns.soon(() => log.lastSeq(user))
  }

  async function readOn(): Promise<void> {
    await opened
    for (let isLast = false; !isLast;) {
      const page = await turns.soon(() => readPage(log, user, { after: place, ...PAGE }))
      // What is kept in memory follows a commit at once, but not in the same instant.
      await nextTick()
      const updates = await updatesOf(page.events)
      place = page.events.at(-1)?.seq ?? place
      isLast = page.isLast
      if (updates.length > 0) tell(updates)
    }
  }

  async function updatesOf(events: readonly LoggedEvent[]): Promise<FacadeOrderStatus[]> {
    const updates: FacadeOrderStatus[] = []
    for (const event of events) if (event.channel === 'orders') updates.push(...(await orderOfEvent(reads, event)))
    if (events.some(({ channel }) => channel === 'positions')) updates.push(...(await triggers.look()))
    return updates
  }

  function tell(updates: readonly FacadeOrderStatus[]): void {
    const frame = textFrame(channelText('orderUpdates', JSON.stringify(updates.map(orderUpdate))))
    for (const connection of listeners) connection.sendFrame(frame)
    counts.sent += listeners.size
  }

  const opened = open()
  return {
    opened,
    wake: createRefresher({ work: readOn, isOver, onError }).ask,
    subscribe(connection, onClose) {
      return {
        start: () => void listeners.add(connection),
        close() {
          listeners.delete(connection)
          onClose()
        },
      }
    },
  }
}
