import { deepEqual, equal } from 'node:assert/strict'
import { once } from 'node:events'
import { DATA_MESSAGES, type StreamChannel } from '@bezel/protocol'
import { Value } from '@sinclair/typebox/value'
import type { WebSocket } from 'ws'

/** A message of the service, received over a socket. */
export type Told = Readonly<Record<string, unknown>>

/** A client that records the messages it receives, in order. */
export interface StreamClient {
  readonly socket: WebSocket
  /** All messages so far, including those that `next` returned. */
  readonly told: readonly Told[]
  say(message: object | string): void
  /** Returns the next message that was not returned yet, and waits for it. */
  next(): Promise<Told>
  /** Sends a message and returns the answer. */
  ask(message: object | string): Promise<Told>
  /** The code that the socket was closed with. */
  readonly closed: Promise<number>
}

const PATIENCE_MS = 60_000

/** Records the messages of a socket, once it is open. Rejects when the handshake is refused. */
export async function listen(socket: WebSocket): Promise<StreamClient> {
  const told: Told[] = []
  let taken = 0
  let onNews = (): void => undefined
  socket.on('message', (data) => {
    told.push(JSON.parse(String(data)) as Told)
    onNews()
  })
  const closed = new Promise<number>((resolve) => socket.once('close', (code) => resolve(code)))
  const opened = once(socket, 'open')
  socket.on('error', () => undefined)
  await opened

  async function next(): Promise<Told> {
    if (taken === told.length) await news()
    return told[taken++]!
  }

  function news(): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('nothing was told')), PATIENCE_MS)
      onNews = () => {
        clearTimeout(timer)
        onNews = () => undefined
        resolve()
      }
    })
  }

  const say = (message: object | string): void =>
    socket.send(typeof message === 'string' ? message : JSON.stringify(message))
  return {
    socket,
    told,
    say,
    next,
    ask: (message) => {
      say(message)
      return next()
    },
    closed,
  }
}

/** Returns the next message of a client, which must be data that matches its schema. */
export async function nextData(of: StreamClient): Promise<Told> {
  const told = await of.next()
  deepEqual([...Value.Errors(DATA_MESSAGES[told.channel as StreamChannel], told)], [])
  return told
}

/** Subscribes a client and returns the snapshot that it gets. */
export async function subscribe(of: StreamClient, message: object): Promise<Told> {
  equal((await of.ask({ op: 'subscribe', ...message })).op, 'subscribed')
  const snapshot = await nextData(of)
  equal(snapshot.snapshot, true)
  return snapshot
}

/** Checks that a client was sent no further message. */
export async function expectSilence(of: StreamClient): Promise<void> {
  equal((await of.ask({ op: 'ping' })).op, 'pong')
}
