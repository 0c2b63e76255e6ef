import { equal } from 'node:assert/strict'
import { describe, it } from 'node:test'
import { unpooledBytes } from './unpooledBytes.ts'

describe('bytes that are kept', () => {
  for (const text of ['', '{"data":[]}', 'x'.repeat(100_000), '\u20ac and \u{1f512}']) {
    it(`are those of ${JSON.stringify(text.slice(0, 20))}, and hold nothing else in memory`, () => {
      const bytes = unpooledBytes(text)
      equal(bytes.toString('utf8'), text)
      equal(bytes.buffer.byteLength, Buffer.byteLength(text))
    })
  }

  it('are one for each character where the text is known to have no others', () => {
    const bytes = unpooledBytes('\u00e9', 'latin1')
    equal(bytes.toString('latin1'), '\u00e9')
    equal(bytes.buffer.byteLength, 1)
  })
})
