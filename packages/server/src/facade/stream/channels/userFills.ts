import { createSingleFlight } from '../../../ground/singleFlight.ts'
import type { Subscription, Connection } from '../../../stream/channel.ts'
import type { ChannelCounts } from '../../../stream/streamCounts.ts'
import { lower, userOf } from '../../info/infoRequest.ts'
import type { FacadeFill } from '../../userFills.ts'
import { channelText, type FacadeChannel, type FacadeStreamSources } from './facadeChannel.ts'
import type { FillReader } from './fillReader.ts'
import type { UserReaders } from './userReaders.ts'

interface SubscribeOptions {
  readonly onClose: () => void
  readonly onError: (error: unknown) => void
  readonly counts: ChannelCounts
}

/** Creates the channel of a user's executions: the last ones, newest first, and then each new one. */
export function createUserFills(
  fills: UserReaders<FillReader>,
  { onError }: Pick<FacadeStreamSources, 'onError'>,
  counts: ChannelCounts,
): FacadeChannel {
  return {
    parse(body) {
      const user = userOf(body)
      return {
        key: user,
        user,
        open: (connection) =>
          fills.subscribe(user, (reader, onClose) =>
            subscribeUserFills(reader, connection, { onClose, onError, counts }),
          ),
      }
    },
  }
}

/** Subscribes one socket to a user's executions. Sends the last ones, newest first, and then each new one once. */
function subscribeUserFills(
  reader: FillReader,
  connection: Connection,
  { onClose, onError, counts }: SubscribeOptions,
): Subscription {
  const user = lower(reader.user)
  /** Executions that arrived before the snapshot was sent; `undefined` after it. */
  let early: FacadeFill[] | undefined = []
  let stop = (): void => undefined
  let isOpen = true

  function onFills(fills: readonly FacadeFill[]): void {
    if (early === undefined) send({ user, fills })
    else early.push(...fills)
  }

  async function begin(): Promise<void> {
    const fills = await reader.recent()
    if (!isOpen || early === undefined) return
    const told = new Set(fills.map(({ tid }) => tid))
    const missed = early.filter(({ tid }) => !told.has(tid))
    early = undefined
    send({ isSnapshot: true, user, fills })
    if (missed.length > 0) send({ user, fills: missed })
  }

  function send(data: object): void {
    connection.send(channelText('userFills', JSON.stringify(data)))
    counts.sent += 1
  }

  const begun = createSingleFlight({ work: begin, onError, isOver: () => !isOpen || early === undefined })
  return {
    start() {
      stop = reader.onFills(onFills)
      begun.ask()
    },
    close() {
      isOpen = false
      stop()
      onClose()
    },
  }
}
