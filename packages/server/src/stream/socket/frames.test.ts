import { deepEqual, equal } from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import * as ws from 'ws'
import { pongFrame, textFrame } from './frames.ts'

/** A class of the WebSocket library that its types leave out. */
type ReceiverConstructor = new (options: { isServer: boolean }) => {
  on(event: 'message' | 'pong', listener: (data: Buffer, isBinary: boolean) => void): void
  write(bytes: Buffer): void
}
const { Receiver } = ws as typeof ws & { readonly Receiver: ReceiverConstructor }

/** Reads a frame with the library that clients use. */
function read(frame: Buffer): { readonly text: string[]; readonly pongs: string[] } {
  const told = { text: [] as string[], pongs: [] as string[] }
  const receiver = new Receiver({ isServer: false })
  receiver.on('message', (data, isBinary) => told.text.push(isBinary ? 'binary' : String(data)))
  receiver.on('pong', (data) => told.pongs.push(String(data)))
  receiver.write(frame)
  return told
}

describe('frames', () => {
  it('have lengths of one, three and nine bytes', () => {
    for (const length of [0, 1, 125, 126, 127, 65_535, 65_536, 70_000]) {
      const text = 'x'.repeat(length)
      deepEqual(read(textFrame(text)).text, [text], String(length))
    }
    equal(textFrame('x'.repeat(125)).length, 127)
    equal(textFrame('x'.repeat(126)).length, 130)
    equal(textFrame('x'.repeat(65_536)).length, 65_546)
  })

  it('carry any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 300 }), (text) => {
        deepEqual(read(textFrame(text)).text, [text])
      }),
    )
  })

  it('answer pings with what they said', () => {
    for (const length of [0, 5, 125]) deepEqual(read(pongFrame(Buffer.alloc(length, 'y'))).pongs, ['y'.repeat(length)])
  })
})
