import { setTimeout as sleep } from 'node:timers/promises'
import { httpAnswer, openHostile, openTcp, upgradeRequest } from '../hostileSocket.ts'
import type { Ground, Life } from '../kind.ts'

// Clients that hold what they were given, and do nothing.

/** Within the limit of a second, hello and pings aside. */
const SUBSCRIPTIONS = 19
const SIGN_OF_LIFE_MS = 10_000
/** Longer than the service waits for any silent client. */
const UNREAD_MS = 75_000

/** Reads all, and answers no ping. */
export const neverPong: Life = async ({ url }) => {
  const socket = await openHostile(url)
  socket.say({ op: 'subscribe', channel: 'prices' })
  await socket.closed
  socket.destroy()
  return socket.heard
}

/** Upgrades, and that was it: it does not answer the service's goodbye either. */
export const halfOpen: Life = async ({ url }) => {
  const { closed, heard } = await openHostile(url)
  await closed
  return heard
}

/** Asks for as much as it can in a second, and never reads a byte of it. */
export const neverRead: Life = async (ground) => unread(ground, false)

/** The same, but it keeps saying that it is there. */
export const neverReadButTalk: Life = async (ground) => unread(ground, true)

async function unread({ url, markets }: Ground, isTalking: boolean): Promise<Iterable<string>> {
  const socket = await openHostile(url)
  socket.tcp.pause()
  for (const market of markets.slice(0, SUBSCRIPTIONS)) socket.say({ op: 'subscribe', channel: 'book', market })
  for (let waitedMs = 0; waitedMs < UNREAD_MS && !socket.tcp.destroyed; waitedMs += SIGN_OF_LIFE_MS) {
    await sleep(SIGN_OF_LIFE_MS)
    if (isTalking) socket.say({ op: 'pong' })
  }
  // What the service could still send is all there is: behind it the connection is over.
  socket.tcp.resume()
  await socket.gone()
  return ['gone']
}

/** Connects, and says nothing. */
export const neverAsk: Life = async ({ url }) => [await httpAnswer(await openTcp(url))]

/** Connects, and says half of what is to be said. */
export const halfRequest: Life = async ({ url }) => {
  const tcp = await openTcp(url)
  const request = upgradeRequest(url)
  tcp.write(request.slice(0, request.length / 2))
  return [await httpAnswer(tcp)]
}
