import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { CANDLE_INTERVALS } from '@bezel/protocol'
import { frameBytes, OPCODES } from '../frameBytes.ts'
import { openHostile, openTcp, upgradeRequest, type HostileSocket } from '../hostileSocket.ts'
import type { Ground, Life } from '../kind.ts'

// Clients that send or request too much.

const BATCH = 200
/** The number of messages sent in a second, just below the limit of a client. */
const ALLOWED_A_SECOND = 18
const SECOND_MS = 1_020
const MAX_SUBSCRIPTIONS = 200
/** Time that a client with all its subscriptions listens to them. */
const LISTEN_MS = 15_000

/** Subscribes and unsubscribes as fast as the connection allows, even after the service closed it. */
export const subscribeFlood: Life = async ({ url, markets, random }) => {
  const socket = await openHostile(url, { isStubborn: true })
  const market = random.pick(markets)
  const bytes = Array.from({ length: BATCH }, (_, at) =>
    textFrame({ op: at % 2 === 0 ? 'subscribe' : 'unsubscribe', channel: 'book', market }),
  )
  return flood(socket, Buffer.concat(bytes))
}

/** Sends protocol pings, which need no JSON. */
export const pingFlood: Life = async ({ url }) => {
  const bytes = Array.from({ length: BATCH }, () => frameBytes({ opcode: OPCODES.ping, payload: 'x'.repeat(125) }))
  return flood(await openHostile(url, { isStubborn: true }), Buffer.concat(bytes))
}

async function flood(socket: HostileSocket, bytes: Buffer): Promise<Iterable<string>> {
  while (!socket.tcp.destroyed) {
    if (!socket.tcp.write(bytes)) await drained(socket.tcp)
    await sleep(0)
  }
  return socket.heard
}

async function drained(tcp: Socket): Promise<void> {
  const over = new AbortController()
  tcp.once('close', () => over.abort())
  if (!tcp.destroyed) await once(tcp, 'drain', { signal: over.signal }).catch(() => undefined)
}

/** Takes every subscription that a socket may have, and one more. */
export const hoard: Life = async (ground) => {
  const socket = await openHostile(ground.url)
  const wanted = allSubscriptions(ground)
  for (let at = 0; at < MAX_SUBSCRIPTIONS; at += ALLOWED_A_SECOND) {
    await subscribeAll(socket, wanted.slice(at, Math.min(at + ALLOWED_A_SECOND, MAX_SUBSCRIPTIONS)))
    await Promise.race([sleep(SECOND_MS), socket.closed])
  }
  if (socket.heard.size > 0) return ['too early', ...socket.heard]
  const refused = socket.once(({ op }) => op === 'error')
  socket.say(wanted[MAX_SUBSCRIPTIONS])
  await refused
  await Promise.race([sleep(LISTEN_MS), socket.closed])
  await socket.leave()
  return socket.heard
}

/** Subscribes. Resolves when all are answered, so that the next messages fall into another second of the limit. */
async function subscribeAll(socket: HostileSocket, messages: readonly unknown[]): Promise<void> {
  let left = messages.length
  const answered = socket.once(({ op }) => op === 'subscribed' && (left -= 1) === 0)
  for (const message of messages) socket.say(message)
  await answered
}

function allSubscriptions({ markets }: Ground): readonly unknown[] {
  const op = 'subscribe'
  const ofMarkets = markets.flatMap((market) => [
    { op, channel: 'book', market },
    { op, channel: 'trades', market },
    ...Object.keys(CANDLE_INTERVALS).map((interval) => ({ op, channel: 'candles', market, interval })),
  ])
  return [{ op, channel: 'prices' }, ...ofMarkets]
}

/** Connects and disconnects at every stage of the handshake. */
export const comeAndGo: Life = async ({ url, random }) => {
  const tcp = await openTcp(url)
  const stage = random.below(4)
  if (stage > 0) tcp.write(upgradeRequest(url))
  if (stage === 2) await Promise.race([once(tcp, 'data').catch(() => undefined), sleep(1_000)])
  if (stage === 3) tcp.end(textFrame({ op: 'subscribe', channel: 'prices' }))
  else if (random.chance(0.5)) tcp.resetAndDestroy()
  tcp.destroy()
  return ['left']
}

/** Opens twenty connections at once, which ask for prices and hang up. */
export const crowd: Life = async ({ url }) => {
  const sockets = await Promise.all(Array.from({ length: 20 }, () => openHostile(url)))
  await Promise.all(
    sockets.map(async (socket) => {
      const there = socket.once(({ channel }) => channel === 'prices')
      socket.say({ op: 'subscribe', channel: 'prices' })
      await there
    }),
  )
  const told = new Set(sockets.flatMap(({ heard }) => [...heard]))
  for (const socket of sockets) socket.destroy()
  return told.size === 0 ? ['left'] : told
}

function textFrame(message: unknown): Buffer {
  return frameBytes({ opcode: OPCODES.text, payload: JSON.stringify(message) })
}
