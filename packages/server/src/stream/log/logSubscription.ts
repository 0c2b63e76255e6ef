import { setTimeout as sleep } from 'node:timers/promises'
import { ApiError, CLOSE_CODES, type Address } from '@bezel/protocol'
import type { Caller } from '../../access/caller.ts'
import { MAX_BEHIND_MS } from '../bounds.ts'
import type { Subscription } from '../channel.ts'
import type { Connection } from '../connection.ts'
import type { LogReader, LogTarget } from './logReader.ts'
import { createLogReplay, type LogReplayOptions } from './logReplay.ts'
import type { Turns } from '../../ground/turns.ts'
import { waitForDrain, type DrainWait } from '../socket/waitForDrain.ts'

export interface LogSubscriptionOptions extends Omit<LogReplayOptions, 'mayListen' | 'onGone'> {
  /** What is sent first; `undefined` when the events after `after` are. */
  readonly snapshot: string | undefined
  readonly trader: Address
  readonly reader: LogReader
  readonly turns: Turns
  /** Why the caller may no longer listen. */
  readonly lapseOf: (caller: Caller) => ApiError | undefined
  readonly onError: (error: unknown) => void
  readonly onClose: () => void
}

/** A store that can't be read is asked again this much later. */
const RETRY_MS = 500

/** To go on would hide that events are missing. */
const GONE = 'Events were forgotten before this socket took them; connect again and subscribe anew.'
const TOO_SLOW = `What waits to be read on this socket was not taken within ${MAX_BEHIND_MS / 1_000} seconds; connect again and resume with fromSeq.`

/**
 * One channel of a log on one socket. It reads its own pages, as fast as the client takes them, until it has come to where the trader's
 * shared reader is, and goes on with that one until the client falls behind.
 */
export function createLogSubscription(connection: Connection, options: LogSubscriptionOptions): Subscription {
  const { trader, channel, reader, turns } = options
  let isOpen = true
  let wait: DrainWait | undefined
  const isListening = (): boolean => isOpen && connection.isOpen
  const replay = createLogReplay(connection, { ...options, mayListen, onGone: () => cut(GONE) })
  const target: LogTarget = {
    channel,
    get after() {
      return replay.after
    },
    prepare: () => void mayListen(),
    take(frame, seq) {
      if (connection.isBehind) return fallBehind(seq)
      connection.sendFrame(frame)
      options.onSent(1)
    },
  }

  /** However much is appended at once, no more is written than the client takes: from this event on it reads by itself again. */
  function fallBehind(seq: number): void {
    reader.leave(target)
    replay.after = seq - 1
    void catchUp(false)
  }

  function close(): void {
    if (!isOpen) return
    isOpen = false
    reader.leave(target)
    wait?.stop()
    options.onClose()
  }

  /** Asked before everything that is sent, so that whoever lost the right to it hears nothing more. */
  function mayListen(): boolean {
    if (!isListening()) return false
    const { caller } = connection
    const lapse = caller?.trader === trader ? options.lapseOf(caller) : undefined
    if (lapse !== undefined) connection.lapse(lapse)
    if (lapse !== undefined || caller?.trader !== trader) close()
    return isListening()
  }

  function cut(message: string): void {
    connection.refuse(new ApiError('RATE_LIMITED', message))
    connection.close(CLOSE_CODES.rateLimited, 'too slow')
    close()
  }

  function drained(): Promise<void> {
    wait = waitForDrain(connection, MAX_BEHIND_MS, () => cut(TOO_SLOW))
    return wait.isOver
  }

  async function catchUp(isNew: boolean): Promise<void> {
    let isAtEnd = isNew
    while (isListening()) {
      try {
        if (connection.isBehind) await drained()
        if (reader.canJoin(replay.after, isAtEnd)) break
        isAtEnd = await turns.later(replay.sendPage)
      } catch (error) {
        options.onError(error)
        await sleep(RETRY_MS, undefined, { ref: false })
      }
    }
    if (isListening()) reader.join(target)
  }

  return {
    close,
    start() {
      if (!mayListen()) return
      if (options.snapshot !== undefined) connection.send(options.snapshot)
      void catchUp(options.snapshot !== undefined)
    },
  }
}
