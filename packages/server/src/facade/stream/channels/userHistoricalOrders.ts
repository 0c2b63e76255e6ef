import type { Connection, Subscription } from '../../../stream/channel.ts'
import { textFrame } from '../../../stream/socket/frames.ts'
import type { ChannelCounts } from '../../../stream/streamCounts.ts'
import { readHistoricalOrders } from '../../info/historicalOrders.ts'
import { lower, userOf } from '../../info/infoRequest.ts'
import { channelText, type FacadeChannel, type FacadeStreamSources } from './facadeChannel.ts'
import { createOrderReaders } from './orderUpdates.ts'

/** Creates the channel of a user's last orders, as `historicalOrders` of `/info` answers them, and of every change. */
export function createUserHistoricalOrders(sources: FacadeStreamSources, counts: ChannelCounts): FacadeChannel {
  const { reads, turns } = sources
  const messageOf = (head: object, orderHistory: unknown): string =>
    channelText('userHistoricalOrders', JSON.stringify({ ...head, orderHistory }))
  const readers = createOrderReaders(sources, counts, (user, orders) => messageOf({ user: lower(user) }, orders))
  return {
    parse(body) {
      const user = userOf(body)
      return {
        key: user,
        user,
        open: (connection) =>
          afterSnapshot(
            connection,
            (sink) => readers.subscribe(user, (reader, onClose) => reader.subscribe(sink, onClose)),
            async () => {
              const orders = await turns.later(() => readHistoricalOrders(reads, user))
              return messageOf({ isSnapshot: true, user: lower(user) }, orders)
            },
          ),
      }
    },
    close: readers.close,
  }
}

/**
 * Listens first and reads the snapshot then, so that no change falls between the two; sends them in the other order.
 */
async function afterSnapshot(
  connection: Connection,
  listen: (sink: Pick<Connection, 'sendFrame'>) => Promise<Subscription>,
  read: () => Promise<string>,
): Promise<Subscription> {
  /** Changes that arrived before the snapshot was sent; `undefined` after it. */
  let early: Buffer[] | undefined = []
  const listening = await listen({
    sendFrame(frame) {
      if (early === undefined) connection.sendFrame(frame)
      else early.push(frame)
    },
  })
  listening.start()
  try {
    const snapshot = textFrame(await read())
    return {
      start() {
        for (const frame of [snapshot, ...(early ?? [])]) connection.sendFrame(frame)
        early = undefined
      },
      close: () => listening.close(),
    }
  } catch (error) {
    listening.close()
    throw error
  }
}
