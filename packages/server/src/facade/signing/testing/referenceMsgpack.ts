import type { JsonValue } from '../../../json/parseStrictJson.ts'

/** Encodes JSON as MessagePack, written from the specification alone as a reference to compare with. Slow. */
export function referenceMsgpack(value: JsonValue): Buffer {
  if (value === null) return Buffer.of(0xc0)
  if (typeof value === 'boolean') return Buffer.of(value ? 0xc3 : 0xc2)
  if (typeof value === 'number') return integer(BigInt(value))
  if (typeof value === 'string') return string(value)
  if (Array.isArray(value)) return Buffer.concat([header(value.length, 0x90, 0xdc), ...value.map(referenceMsgpack)])
  const entries = Object.entries(value).flatMap(([key, member]) => [string(key), referenceMsgpack(member)])
  return Buffer.concat([header(entries.length / 2, 0x80, 0xde), ...entries])
}

/**
 * Encodes the header of an array or a map: a count below 16 is in the first byte, a larger one in two or four bytes
 * after it.
 */
function header(count: number, fixed: number, first16: number): Buffer {
  if (count < 16) return Buffer.of(fixed + count)
  return count < 2 ** 16 ? tagged(first16, 2, BigInt(count)) : tagged(first16 + 1, 4, BigInt(count))
}

function string(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8')
  const count = BigInt(bytes.length)
  if (count < 32n) return Buffer.concat([Buffer.of(0xa0 + bytes.length), bytes])
  if (count < 2n ** 8n) return Buffer.concat([tagged(0xd9, 1, count), bytes])
  return Buffer.concat([count < 2n ** 16n ? tagged(0xda, 2, count) : tagged(0xdb, 4, count), bytes])
}

/** Encodes an integer in its shortest form, unsigned unless it is negative. */
function integer(value: bigint): Buffer {
  if (value >= 0n && value < 2n ** 7n) return Buffer.of(Number(value))
  if (value < 0n && value >= -32n) return Buffer.of(Number(256n + value))
  const [tag, isFit] =
    value >= 0n ? [0xcc, (bits: bigint) => value < 2n ** bits] : [0xd0, (bits: bigint) => value >= -(2n ** (bits - 1n))]
  const step = [8n, 16n, 32n, 64n].findIndex(isFit)
  return tagged(tag + step, 2 ** step, BigInt.asUintN(64, value))
}

function tagged(tag: number, size: number, value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(value)
  return Buffer.concat([Buffer.of(tag), bytes.subarray(8 - size)])
}
