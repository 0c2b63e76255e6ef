import type { Socket } from 'node:net'
import { OPCODES, readFrame } from './frameBytes.ts'

/** A message of the service. */
export interface Said {
  readonly op?: string
  readonly code?: string
  readonly channel?: string
}

/** Everything the service sends on a connection that asked for a WebSocket. */
export interface Hearing {
  /**
   * The distinct answers in order: `HTTP 429`, error codes, the close code; `1006` when the connection was cut without
   * one.
   */
  readonly heard: ReadonlySet<string>
  /** Resolves when the upgrade was answered, or never will be. */
  readonly answered: Promise<void>
  /** Resolves when the service refused or closed, or the connection is gone. */
  readonly closed: Promise<void>
  /** Resolves when an expected message arrives, or when the connection is closed. */
  once(isExpected: (said: Said) => boolean): Promise<void>
}

/** The code by which clients know a connection that ended without a close frame. */
export const CUT_OFF = '1006'

export function listenTo(tcp: Socket): Hearing {
  const heard = new Set<string>()
  const watchers = new Set<(said: Said) => void>()
  const answered = Promise.withResolvers<void>()
  const closed = Promise.withResolvers<void>()
  let isUpgraded = false
  let isOver = false
  let bytes: Buffer = Buffer.alloc(0)

  function end(word: string): void {
    if (!isOver) heard.add(word)
    isOver = true
    answered.resolve()
    closed.resolve()
  }

  function readUpgrade(): void {
    const length = bytes.indexOf('\r\n\r\n') + 4
    if (length < 4) return
    const status = bytes.toString('latin1', 9, 12)
    isUpgraded = status === '101'
    if (!isUpgraded) end(`HTTP ${status}`)
    bytes = bytes.subarray(length)
    answered.resolve()
  }

  function readFrames(): void {
    for (let frame = readFrame(bytes); frame !== undefined; frame = readFrame(bytes)) {
      bytes = frame.rest
      if (frame.opcode === OPCODES.close) end(String(frame.payload.readUInt16BE(0)))
      else if (frame.opcode === OPCODES.text) listen(JSON.parse(frame.payload.toString('utf8')) as Said)
    }
  }

  function listen(said: Said): void {
    if (said.op === 'error') heard.add(said.code!)
    for (const watcher of watchers) watcher(said)
  }

  tcp.on('data', (chunk: Buffer) => {
    bytes = bytes.length === 0 ? chunk : Buffer.concat([bytes, chunk])
    if (!isUpgraded && !isOver) readUpgrade()
    if (isUpgraded) readFrames()
  })
  if (tcp.destroyed) end(CUT_OFF)
  else tcp.once('close', () => end(CUT_OFF))

  return {
    heard,
    answered: answered.promise,
    closed: closed.promise,
    once(isExpected) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const watcher = (said: Said): void => {
        if (isExpected(said) && watchers.delete(watcher)) resolve()
      }
      watchers.add(watcher)
      return Promise.race([closed.promise, promise])
    },
  }
}
