import { randomBytes } from 'node:crypto'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { authMessage } from '../../stream/streamClient.ts'
import { openHostile, type HostileSocket } from '../hostileSocket.ts'
import type { Ground, Life } from '../kind.ts'

// Clients whose messages are well-formed but meaningless or false.

const STALE_MS = 120_000

/** Sends texts that are not JSON, or not the JSON allowed here. */
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

/** Sends messages about things that do not exist. */
export const unknownThings: Life = ({ url }) =>
  sayAll(url, [
    { op: 'subscribe', channel: 'everything' },
    { op: 'subscribe', channel: 'book', market: 'NONE/USD' },
    { op: 'subscribe', channel: 'candles', market: 'BTC/USD', interval: '2m' },
    { op: 'subscribe', channel: 'candles', market: 'NONE/USD', interval: '1m' },
    { op: 'subscribe', channel: 'prices', market: 'NONE/USD' },
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

/** Sends one message and waits for its error. The next one is handled all the same. */
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

/** Sends invalid signatures and unknown keys. */
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

/** Sends the `auth` message that another socket was accepted with. */
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

/** Sends invalid credentials in the upgrade's headers, where the answer is HTTP. */
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

/** Returns a well-formed signature of an unknown key. */
function garbage(): string {
  return `0x${randomBytes(64).toString('hex')}1b`
}
