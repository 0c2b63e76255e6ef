import { setImmediate as nextTick } from 'node:timers/promises'
import type { Address } from '@bezel/protocol'
import { notReady } from '../../../ground/notReady.ts'
import type { Subscription } from '../../../stream/channel.ts'
import type { Connection } from '../../../stream/connection.ts'
import { createShared } from '../../../ground/shared.ts'
import type { ChannelCounts } from '../../../stream/streamCounts.ts'
import { createTopic, type Topic } from '../../../stream/topics/topic.ts'
import type { InfoRequest } from '../../info/infoRequest.ts'
import type { FacadeStreamSources } from '../facadeStreamSources.ts'
import { createRefresher, type Refresher } from '../../../ground/refresher.ts'

/** Values of users, each made once for all sockets: told whole at the beginning, when it changed, and now and then. */
export interface UserValues {
  subscribe(connection: Connection, user: Address, request: InfoRequest): Subscription
  close(): void
}

export interface UserValuesOptions extends Pick<FacadeStreamSources, 'log' | 'onError'> {
  /** The whole message. */
  readonly read: (user: Address, request: InfoRequest) => Promise<string>
  readonly counts: ChannelCounts
  /** It is read again this often, beside what the log of its user says; `undefined` when only that changes it. */
  readonly repeatMs: number | undefined
}

/** How many follow each other without a break. */
const VALUES_AT_ONCE = 10

interface UserValue extends Refresher {
  readonly topic: Topic
  readonly user: Address
}

export function createUserValues({ log, onError, read, counts, repeatMs }: UserValuesOptions): UserValues {
  const values = createShared(open)
  let isClosed = false

  function open(key: string): UserValue {
    const [user, request] = JSON.parse(key) as [Address, InfoRequest]
    let told: string | undefined
    const topic = createTopic({
      counts,
      snapshot() {
        if (told === undefined) throw notReady('starting')
        return told
      },
    })
    async function tell(): Promise<void> {
      const text = await read(user, request)
      if (text === told) return
      told = text
      topic.publish(text)
    }
    const isOver = (): boolean => isClosed || values.get(key)?.topic !== topic
    return { topic, user, ask: createRefresher({ work: tell, isOver, onError }).ask }
  }

  /** A few at a time, with room for everything else in between. */
  async function askAll(): Promise<void> {
    let asked = 0
    for (const value of values.items()) {
      value.ask()
      asked += 1
      if (asked % VALUES_AT_ONCE === 0) await nextTick()
    }
  }

  const timer = repeatMs === undefined ? undefined : setInterval(() => void askAll(), repeatMs).unref()
  const stop = log.onAppend((trader) => {
    for (const value of values.items()) if (value.user === trader) value.ask()
  })
  return {
    subscribe(connection, user, request) {
      const key = JSON.stringify([user, request])
      const isNew = values.get(key) === undefined
      const value = values.hold(key)
      if (isNew) value.ask()
      return value.topic.subscribe(connection, () => values.release(key))
    },
    close() {
      isClosed = true
      stop()
      clearInterval(timer)
    },
  }
}
