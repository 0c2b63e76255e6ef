import assert from 'node:assert/strict'
import { EMPTY_BODY_HASH, REQUEST_FIELDS, type LogChannel, type SigningDomain } from '@bezel/protocol'
import type { PrivateKeyAccount } from 'viem/accounts'
import { WebSocket } from 'ws'
import { freshNonce } from '@bezel/testkit/agentClient.ts'
import { until } from '@bezel/testkit/until.ts'

export const STREAM_PATH = '/v1/arbitrum-sepolia/ws'

const WAIT_MS = 120_000

/** A message of the service, with its exact text. */
export interface Received {
  readonly text: string
  // oxlint-disable-next-line typescript/no-explicit-any -- a test reads whatever the service sent and asserts on it
  readonly json: any
}

/** A socket of the stream, as an integrator's program has one. */
export interface StreamClient {
  readonly received: readonly Received[]
  send(message: unknown): void
  /** Returns the first expected message, possibly an earlier one, that was not returned before. */
  next(what: string, isExpected: (json: Received['json']) => boolean): Promise<Received>
  /** Ends the connection without a close frame, as a network fault does. */
  cut(): void
  close(): Promise<void>
  /** Resolves with the close code, whichever side closes. */
  readonly closed: Promise<number>
}

/** Opens a stream. Resolves after the greeting of the service; rejects when it refuses or is down. */
export async function openStream(
  url: string,
  of: {
    readonly path?: string
    readonly headers?: Record<string, string>
    readonly onMessage?: (message: Received) => void
  } = {},
): Promise<StreamClient> {
  const socket = new WebSocket(url.replace(/^http/, 'ws') + (of.path ?? STREAM_PATH), { headers: of.headers ?? {} })
  const received: Received[] = []
  const taken = new Set<Received>()
  const watchers = new Set<() => void>()
  const closed = new Promise<number>((resolve) => socket.once('close', resolve))
  socket.on('message', (data) => {
    const message = { text: String(data), json: JSON.parse(String(data)) }
    received.push(message)
    of.onMessage?.(message)
    for (const watcher of watchers) watcher()
  })
  await new Promise<void>((resolve, reject) => {
    socket.once('open', () => resolve())
    socket.on('error', reject)
  })

  const client: StreamClient = {
    received,
    closed,
    send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    next: (what, isExpected) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => {
          const seen = received.slice(-5).map(({ text }) => text.slice(0, 300))
          end(() => reject(new Error(`${what} did not come; the last messages were ${seen.join('\n')}`)))
        }, WAIT_MS)
        function end(then: () => void): void {
          clearTimeout(timer)
          watchers.delete(look)
          then()
        }
        function look(): void {
          const found = received.find((message) => !taken.has(message) && isExpected(message.json))
          if (found === undefined) return
          taken.add(found)
          end(() => resolve(found))
        }
        watchers.add(look)
        void closed.then((code) => end(() => reject(new Error(`closed with ${code} before ${what} came`))))
        look()
      }),
    cut: () => socket.terminate(),
    async close() {
      socket.close(1000)
      await closed
    },
  }
  await client.next('hello', ({ op }) => op === 'hello')
  return client
}

/** Sends until the answer is none that a busy machine gives to whatever it is asked. Returns it. */
async function untilReady(
  stream: StreamClient,
  message: () => object | Promise<object>,
  isAnswer: (json: Received['json']) => boolean,
): Promise<Received['json']> {
  return until('an answer of a node that is ready', async (saw) => {
    stream.send(await message())
    const { json } = await stream.next('an answer', (told) => told.op === 'error' || isAnswer(told))
    saw(json)
    return json.op === 'error' && json.code === 'NOT_READY' ? undefined : json
  })
}

/** Authenticates a socket as an agent, again as long as the node is not ready. */
export async function authenticate(stream: StreamClient, domain: SigningDomain, agent: PrivateKeyAccount) {
  const answer = await untilReady(
    stream,
    () => authMessage(domain, agent),
    ({ op }) => op === 'authenticated',
  )
  assert.equal(answer.op, 'authenticated', JSON.stringify(answer))
}

/** Subscribes to a private channel, again as long as the node is not ready. Resolves after the snapshot. */
export async function subscribeTo(stream: StreamClient, channel: LogChannel): Promise<void> {
  const isSnapshot = (json: Received['json']): boolean => json.channel === channel && json.snapshot === true
  const answer = await untilReady(stream, () => ({ op: 'subscribe', channel }), isSnapshot)
  assert.ok(isSnapshot(answer), JSON.stringify(answer))
}

/** Returns the `auth` message of an agent. */
export async function authMessage(domain: SigningDomain, agent: PrivateKeyAccount, path = STREAM_PATH) {
  const [timestamp, nonce] = [String(Date.now()), freshNonce()]
  const signature = await agent.signTypedData({
    domain,
    primaryType: 'wsAuth',
    types: { wsAuth: REQUEST_FIELDS },
    message: { method: 'WS', path, bodyHash: EMPTY_BODY_HASH, timestamp: BigInt(timestamp), nonce: BigInt(nonce) },
  } as never)
  return { op: 'auth', agent: agent.address, timestamp, nonce, signature }
}
