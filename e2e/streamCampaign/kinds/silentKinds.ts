import { setTimeout as sleep } from 'node:timers/promises'
import { httpAnswer, openHostile, openTcp, upgradeRequest } from '../hostileSocket.ts'
import type { Ground, Life } from '../kind.ts'

// Clients that keep their connection and do nothing with it.

/** The number of subscriptions that fit into one second's limit, besides hello and pings. */
const SUBSCRIPTIONS = 19
const SIGN_OF_LIFE_MS = 10_000
/** Time without reading, longer than the service waits for any silent client. */
const UNREAD_MS = 75_000

/** Reads everything, and answers no ping. */
export const neverPong: Life = async ({ url }) => {
  const socket = await openHostile(url)
  socket.say({ op: 'subscribe', channel: 'prices' })
  await socket.closed
  socket.destroy()
  return socket.heard
}

/** Upgrades and then does nothing; does not answer the service's close frame either. */
export const halfOpen: Life = async ({ url }) => {
  const { closed, heard } = await openHostile(url)
  await closed
  return heard
}

/** Subscribes to as much as it can in a second, and never reads a byte of it. */
export const neverRead: Life = async (ground) => unread(ground, false)

/** Never reads either, but keeps sending pings. */
export const neverReadButTalk: Life = async (ground) => unread(ground, true)

async function unread({ url, markets }: Ground, isTalking: boolean): Promise<Iterable<string>> {
  const socket = await openHostile(url)
  socket.tcp.pause()
  for (const market of markets.slice(0, SUBSCRIPTIONS)) socket.say({ op: 'subscribe', channel: 'book', market })
  for (let waitedMs = 0; waitedMs < UNREAD_MS && !socket.tcp.destroyed; waitedMs += SIGN_OF_LIFE_MS) {
    await sleep(SIGN_OF_LIFE_MS)
    if (isTalking) socket.say({ op: 'pong' })
  }
  // The bytes that the service could still send are all there is: after them the connection is over.
  socket.tcp.resume()
  await socket.gone()
  return ['gone']
}

/** Connects, and sends nothing. */
export const neverAsk: Life = async ({ url }) => [await httpAnswer(await openTcp(url))]

/** Connects, and sends half of a request. */
export const halfRequest: Life = async ({ url }) => {
  const tcp = await openTcp(url)
  const request = upgradeRequest(url)
  tcp.write(request.slice(0, request.length / 2))
  return [await httpAnswer(tcp)]
}
