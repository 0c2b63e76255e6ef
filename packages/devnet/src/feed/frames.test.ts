import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { heartbeatText, feedFrame, v3Text, v4Text } from './server.ts'

const tick = {
  timeMs: 1_794_000_000_250,
  quotes: [
    { pairIndex: 0, mark: 650_001_200_000_000n, index: 650_001_200_000_000n },
    { pairIndex: 134, mark: 52_345n, index: 52_313n },
  ],
}

describe('frames', () => {
  it('have the shapes of the live feed', () => {
    assert.equal(
      v4Text(tick),
      '{"m":[0,65000.12,134,0.0000052345],"i":[0,65000.12,134,0.0000052313],"t":1794000000250}',
    )
    assert.equal(v3Text(tick), '[0,65000.12,134,0.0000052345]')
    assert.equal(heartbeatText(5), '[5]')
  })

  it('carry the length of every size of payload', () => {
    assert.deepEqual([...feedFrame('hi')], [0x81, 2, 0x68, 0x69])
    assert.deepEqual([...feedFrame('x'.repeat(125)).subarray(0, 2)], [0x81, 125])
    assert.deepEqual([...feedFrame('x'.repeat(126)).subarray(0, 4)], [0x81, 126, 0, 126])
    assert.deepEqual([...feedFrame('x'.repeat(65_535)).subarray(0, 4)], [0x81, 126, 255, 255])
    assert.deepEqual([...feedFrame('x'.repeat(65_536)).subarray(0, 10)], [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0])
    assert.equal(feedFrame('é').length, 4, 'counts bytes, not characters')
  })
})
