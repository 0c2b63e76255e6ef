import type { Address } from '@bezel/protocol'
import type { RowMeter } from '../../../access/weights.ts'
import type { Connection, Subscription } from '../../../stream/channel.ts'
import { textFrame } from '../../../stream/socket/frames.ts'
import type { ChannelCounts } from '../../../stream/streamCounts.ts'
import { userOf } from '../../info/infoRequest.ts'
import type { FacadeChannel } from './facadeChannel.ts'
import type { UserReader, UserReaders } from './userReaders.ts'

interface UserChannelOptions<News, Reader> {
  readonly readers: UserReaders<Reader>
  readonly counts: ChannelCounts
  /** Writes the message about news. */
  readonly messageOf: (news: readonly News[], user: Address) => string
  /**
   * Reads the message that a subscription begins with. Its rows are counted on the meter. Left out: a subscription
   * begins with the next news.
   */
  readonly begin?: (reader: Reader, meter: RowMeter) => Promise<Beginning<News>>
}

/** The message that a subscription begins with. */
interface Beginning<News> {
  readonly text: string
  /** True for news that the message already tells. Left out: it is told again. */
  readonly isTold?: (news: News) => boolean
}

/** Creates a channel of what happens to one user: perhaps what was there before, and then each news. */
export function createUserChannel<News, Reader extends UserReader<News>>(
  options: UserChannelOptions<News, Reader>,
): FacadeChannel {
  const { readers, counts, messageOf } = options
  /** Frames of news, each made once for all sockets. */
  const frames = new WeakMap<readonly News[], Buffer>()

  function frameOf(news: readonly News[], user: Address): Buffer {
    const frame = frames.get(news) ?? textFrame(messageOf(news, user))
    frames.set(news, frame)
    return frame
  }

  /** Listens first and reads the beginning then, so that no news falls between the two. */
  async function open(user: Address, connection: Connection, meter: RowMeter): Promise<Subscription> {
    const reader = await readers.hold(user)
    /** News that came before the subscription began; `undefined` after it. */
    let early: News[] | undefined = []
    const stop = reader.onNews((news) => {
      if (early === undefined) send(frameOf(news, user))
      else early.push(...news)
    })
    function send(frame: Buffer): void {
      connection.sendFrame(frame)
      counts.sent += 1
    }
    function close(): void {
      stop()
      readers.release(user)
    }

    try {
      const beginning = await options.begin?.(reader, meter)
      return {
        start() {
          if (beginning !== undefined) send(textFrame(beginning.text))
          const news = (early ?? []).filter((one) => beginning?.isTold?.(one) !== true)
          early = undefined
          if (news.length > 0) send(frameOf(news, user))
        },
        close,
      }
    } catch (error) {
      close()
      throw error
    }
  }

  return {
    parse(body) {
      const user = userOf(body)
      return { key: user, user, open: (connection, meter) => open(user, connection, meter) }
    },
    close: readers.close,
  }
}
