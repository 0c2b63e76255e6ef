import { randomBytes } from 'node:crypto'

// Client frames of WebSocket (RFC 6455, section 5.2). The caller may get everything in them wrong.

export const OPCODES = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const

export interface FrameTerms {
  readonly opcode: number
  readonly payload?: Uint8Array | string
  /** False when more of the message follows. */
  readonly isFinal?: boolean
  /** True for a masked frame, which clients must send. */
  readonly isMasked?: boolean
  /** The length that the header claims, true or not. */
  readonly claimedLength?: number
  /** Bits added to the first byte, whose reserved bits must be 0. */
  readonly reservedBits?: number
}

const NO_MASK = Buffer.alloc(0)

export function frameBytes(terms: FrameTerms): Buffer {
  const { opcode, isFinal = true, isMasked = true, reservedBits = 0 } = terms
  const payload = Buffer.from(terms.payload ?? '')
  const length = lengthBytes(terms.claimedLength ?? payload.length)
  if (isMasked) length[0]! |= 0x80
  const mask = isMasked ? randomBytes(4) : NO_MASK
  const content = isMasked ? payload.map((byte, at) => byte ^ mask[at % 4]!) : payload
  return Buffer.concat([Buffer.from([(isFinal ? 0x80 : 0) | reservedBits | opcode]), length, mask, content])
}

function lengthBytes(length: number): Buffer {
  if (length < 126) return Buffer.from([length])
  const bytes = Buffer.alloc(length <= 0xffff ? 3 : 9)
  bytes[0] = length <= 0xffff ? 126 : 127
  if (length <= 0xffff) bytes.writeUInt16BE(length, 1)
  else bytes.writeBigUInt64BE(BigInt(length), 1)
  return bytes
}

/** A frame of the service: final and unmasked. */
export interface ReadFrame {
  readonly opcode: number
  readonly payload: Buffer
  /** The bytes after the frame. */
  readonly rest: Buffer
}

/** Reads a frame; `undefined` until all of it has arrived. */
export function readFrame(bytes: Buffer): ReadFrame | undefined {
  if (bytes.length < 2) return undefined
  const short = bytes[1]! & 0x7f
  const start = short < 126 ? 2 : short === 126 ? 4 : 10
  if (bytes.length < start) return undefined
  const length = short < 126 ? short : short === 126 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2))
  if (bytes.length < start + length) return undefined
  return {
    opcode: bytes[0]! & 0x0f,
    payload: bytes.subarray(start, start + length),
    rest: bytes.subarray(start + length),
  }
}
