import { randomBytes } from 'node:crypto'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { authMessage } from '../../stream/streamClient.ts'
import { openHostile, type HostileSocket } from '../hostileSocket.ts'
import type { Ground, Life } from '../kind.ts'

// Clients whose messages are well-formed and make no sense, or are lies.

const STALE_MS = 120_000

/** No JSON, or not what JSON may be here. */
export const badJson: Life = ({ url }) =>
  sayAll(url, [
    '',
    '{',
    'null',
    '[]',
    '"subscribe"',
    '{"op":"subscribe","channel":"prices",}',
    '{"op":"ping","op":"pong"}',
    '{"__proto__":{"op":"ping"}}',
    '['.repeat(4_000),
    '{"op":"ping","timestamp":1e999}',
  ])

/** Nothing that there is. */
export const unknownThings: Life = ({ url }) =>
  sayAll(url, [
    { op: 'subscribe', channel: 'everything' },
    { op: 'subscribe', channel: 'book', market: 'NONE/USD' },
    { op: 'subscribe', channel: 'candles', market: 'BTC/USD', interval: '2m' },
    { op: 'subscribe', channel: 'candles', market: 'NONE/USD', interval: '1m' },
    { op: 'subscribe', channel: 'prices', market: 'BTC/USD' },
    { op: 'unsubscribe', channel: 'nothing' },
    { op: 'destroy' },
    { op: 'subscribe', channel: 'orders' },
    { op: 'subscribe', channel: 'account', fromSeq: 1 },
  ])

async function sayAll(url: string, messages: readonly unknown[]): Promise<Iterable<string>> {
  const socket = await openHostile(url)
  for (const message of messages) await sayOne(socket, message)
  return pingAndLeave(socket)
}

/** Each is answered by an error, and the next one is heard all the same. */
async function sayOne(socket: HostileSocket, message: unknown): Promise<void> {
  const answered = socket.once(({ op }) => op === 'error')
  socket.say(message)
  await answered
}

async function pingAndLeave(socket: HostileSocket): Promise<Iterable<string>> {
  const ponged = socket.once(({ op }) => op === 'pong')
  socket.say({ op: 'ping' })
  await ponged
  await socket.leave()
  return socket.heard
}

/** Signatures and keys of nobody. */
export const badCredentials: Life = async ({ url, agent }) => {
  const now = Date.now()
  const signed = { op: 'auth', agent: agent.address, nonce: String(now), signature: garbage() }
  return sayAll(url, [
    { ...signed, timestamp: String(now) },
    { ...signed, timestamp: String(now - STALE_MS) },
    { ...signed, timestamp: String(now), agent: privateKeyToAccount(generatePrivateKey()).address },
    { ...signed, timestamp: String(now), signature: '0x00' },
    { op: 'auth', apiKey: `bz_${randomBytes(32).toString('hex')}` },
  ])
}

/** What another socket was let in with. */
export const replay: Life = async ({ url, domain, agent }) => {
  const message = await authMessage(domain, agent)
  const first = await openHostile(url)
  const isIn = first.once(({ op }) => op === 'authenticated')
  first.say(message)
  await isIn
  const second = await openHostile(url)
  await sayOne(second, message)
  await sayOne(second, { op: 'subscribe', channel: 'orders' })
  first.destroy()
  return pingAndLeave(second)
}

/** Credentials in the upgrade's headers, where the answer is HTTP. */
export const badUpgrade: Life = async ({ url, agent, random }: Ground) => {
  const signed = {
    'x-service-agent': agent.address,
    'x-service-timestamp': String(Date.now()),
    'x-service-nonce': String(Date.now()),
    'x-service-signature': garbage(),
  } as const
  const headers = random.chance(0.5) ? signed : { 'x-service-api-key': 'bz_nobody' }
  const socket = await openHostile(url, { headers })
  await socket.gone()
  return socket.heard
}

/** A signature in its form, and of nobody. */
function garbage(): string {
  return `0x${randomBytes(64).toString('hex')}1b`
}
