import { priceNumber } from './price.ts'
import type { Tick } from './prices.ts'

/** Version 4 of the wire format: marks and indices apart, `[pairIndex, price, pairIndex, price, ...]` each. */
export function v4Text({ timeMs, quotes }: Tick): string {
  return JSON.stringify({
    m: quotes.flatMap(({ pairIndex, mark }) => [pairIndex, priceNumber(mark)]),
    i: quotes.flatMap(({ pairIndex, index }) => [pairIndex, priceNumber(index)]),
    t: timeMs,
  })
}

/** Version 3: the marks alone, as one flat array. */
export function v3Text({ quotes }: Tick): string {
  return JSON.stringify(quotes.flatMap(({ pairIndex, mark }) => [pairIndex, priceNumber(mark)]))
}

/** The sign of life of both versions. */
export function heartbeatText(timeMs: number): string {
  return JSON.stringify([timeMs])
}

/** A whole unmasked WebSocket text frame (RFC 6455, section 5.2), built once and written to every socket as it is. */
export function textFrame(text: string): Buffer {
  const payload = Buffer.from(text)
  return Buffer.concat([frameHeader(payload.length), payload])
}

const FINAL_TEXT = 0x81

function frameHeader(length: number): Buffer {
  if (length < 126) return Buffer.from([FINAL_TEXT, length])
  if (length < 65_536) return Buffer.from([FINAL_TEXT, 126, length >> 8, length & 0xff])
  const header = Buffer.alloc(10)
  header.writeUInt16BE((FINAL_TEXT << 8) | 127)
  header.writeBigUInt64BE(BigInt(length), 2)
  return header
}
