import { setTimeout as sleep } from 'node:timers/promises'
import { OPCODES, type FrameTerms } from '../frameBytes.ts'
import { openHostile } from '../hostileSocket.ts'
import type { Life } from '../kind.ts'

// Clients whose bytes are not valid messages.

const MAX_MESSAGE_BYTES = 4_096
const MAX_FRAGMENTS = 64
const PRICES = JSON.stringify({ op: 'subscribe', channel: 'prices' })
const { text, binary, continuation, ping, close } = OPCODES

/** Sends messages that are too long: at once, by their header alone, or in parts. */
export const oversized: Life = ({ url, random }) => {
  const more: FrameTerms = { opcode: continuation, isFinal: false, payload: 'x'.repeat(1_000) }
  const ways: readonly (readonly FrameTerms[])[] = [
    [{ opcode: text, payload: `"${'x'.repeat(MAX_MESSAGE_BYTES)}"` }],
    [{ opcode: text, payload: 'x'.repeat(200_000) }],
    [{ opcode: text, claimedLength: 2 ** 40, payload: 'x' }],
    [{ opcode: text, isFinal: false, payload: 'x' }, ...Array.from({ length: 5 }, () => more)],
  ]
  return sendAll(url, random.pick(ways))
}

export const binaryFrames: Life = ({ url, random }) =>
  sendAll(url, [{ opcode: binary, payload: random.chance(0.5) ? PRICES : '' }])

/** Sends a message in more parts than any client needs. */
export const tooManyFragments: Life = ({ url }) =>
  sendAll(url, [
    { opcode: text, isFinal: false, payload: '{' },
    ...Array.from({ length: MAX_FRAGMENTS + 10 }, () => ({ opcode: continuation, isFinal: false, payload: ' ' })),
  ])

/** Sends frames that the protocol itself forbids. */
export const brokenFrames: Life = ({ url, random }) => {
  const ways: readonly FrameTerms[] = [
    { opcode: text, isMasked: false, payload: PRICES },
    { opcode: text, reservedBits: 0x40, payload: PRICES },
    { opcode: 3, payload: PRICES },
    { opcode: continuation, payload: PRICES },
    { opcode: ping, isFinal: false, payload: PRICES },
    { opcode: close, payload: Uint8Array.of(0x03, 0xed) },
  ]
  return sendAll(url, [random.pick(ways)])
}

export const brokenUtf8: Life = ({ url }) =>
  sendAll(url, [{ opcode: text, payload: Uint8Array.of(0x22, 0xc3, 0x28, 0x22) }])

async function sendAll(url: string, frames: readonly FrameTerms[]): Promise<Iterable<string>> {
  const socket = await openHostile(url)
  for (const terms of frames) socket.frame(terms)
  await socket.closed
  socket.destroy()
  return socket.heard
}

/** Sends one message in small parts, with a ping between them: unusual, but valid. */
export const goodFragments: Life = async ({ url }) => {
  const socket = await openHostile(url)
  const there = socket.once(({ channel }) => channel === 'prices')
  for (let at = 0; at < PRICES.length; at += 4) {
    const isFinal = at + 4 >= PRICES.length
    socket.frame({ opcode: at === 0 ? text : continuation, isFinal, payload: PRICES.slice(at, at + 4) })
    if (at === 8) socket.frame({ opcode: ping })
  }
  await there
  await socket.leave()
  return socket.heard
}

/** Sends the first parts of a message, one at a time and without an end. */
export const endlessFragments: Life = async ({ url }) => {
  const socket = await openHostile(url)
  socket.frame({ opcode: text, isFinal: false, payload: '{"op":' })
  while (socket.heard.size === 0) {
    await Promise.race([sleep(1_000), socket.closed])
    socket.frame({ opcode: continuation, isFinal: false, payload: ' ' })
  }
  socket.destroy()
  return socket.heard
}
