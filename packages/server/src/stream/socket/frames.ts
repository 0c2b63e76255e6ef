// WebSocket frames of RFC 6455, section 5.2, as a server sends them: final and unmasked.

const FINAL_TEXT = 0x81
const TWO_BYTE_LENGTH = 126
const EIGHT_BYTE_LENGTH = 127
const MAX_TWO_BYTE_LENGTH = 0xffff

/** Returns a whole text message as a frame. It is built once and written unchanged to any number of sockets. */
export function textFrame(text: string): Buffer {
  const length = Buffer.byteLength(text)
  const headerLength = length < TWO_BYTE_LENGTH ? 2 : length <= MAX_TWO_BYTE_LENGTH ? 4 : 10
  const frame = Buffer.allocUnsafe(headerLength + length)
  frame[0] = FINAL_TEXT
  writeLength(frame, length)
  frame.write(text, headerLength)
  return frame
}

function writeLength(frame: Buffer, length: number): void {
  if (length < TWO_BYTE_LENGTH) frame[1] = length
  else if (length <= MAX_TWO_BYTE_LENGTH) {
    frame[1] = TWO_BYTE_LENGTH
    frame.writeUInt16BE(length, 2)
  } else {
    frame[1] = EIGHT_BYTE_LENGTH
    frame.writeBigUInt64BE(BigInt(length), 2)
  }
}

const FINAL_PING = 0x89
const FINAL_PONG = 0x8a

/** Protocol ping, which every client library answers with a pong by itself. */
export const PING_FRAME: Buffer = Buffer.from([FINAL_PING, 0])

/** Returns the answer to a protocol ping, which repeats its payload of at most 125 bytes. */
export function pongFrame(payload: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([FINAL_PONG, payload.length]), payload])
}
