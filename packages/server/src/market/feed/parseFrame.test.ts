import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { parseFrame } from './parseFrame.ts'

describe('parseFrame', () => {
  it('reads version 4: marks, indices and time', () => {
    assert.deepEqual(parseFrame('{"m":[0,65000.5,57,8.5e-06],"i":[0,65000,57,0.0000085],"t":1794712331251}'), {
      kind: 'prices',
      marks: [
        [0, 650_005_000_000_000n],
        [57, 85_000n],
      ],
      indices: [
        [0, 650_000_000_000_000n],
        [57, 85_000n],
      ],
      timeMs: 1_794_712_331_251,
      skipped: 0,
    })
  })

  it('reads version 3: a flat array of marks', () => {
    assert.deepEqual(parseFrame('[1,2500,2,14.25]'), {
      kind: 'prices',
      marks: [
        [1, 25_000_000_000_000n],
        [2, 142_500_000_000n],
      ],
      indices: undefined,
      timeMs: undefined,
      skipped: 0,
    })
  })

  it('reads the heartbeat of both', () => {
    assert.deepEqual(parseFrame('[1794712331251]'), { kind: 'heartbeat', timeMs: 1_794_712_331_251 })
  })

  it('takes prices to the last of ten decimals and cuts off more', () => {
    const frame = parseFrame('[0,0.0000000001,1,1.00000000019]')
    assert.deepEqual(frame?.kind === 'prices' && frame.marks, [
      [0, 1n],
      [1, 10_000_000_001n],
    ])
  })

  it('leaves out entries that make no sense and keeps the rest', () => {
    const frame = parseFrame(
      '{"m":[0,1,-1,5,1.5,5,65536,5,"7",5,8,0,9,-3,10,null,11,1e300,12,true,13],"i":[0,1],"t":"x"}',
    )
    assert.deepEqual(frame, {
      kind: 'prices',
      marks: [[0, 10_000_000_000n]],
      indices: [[0, 10_000_000_000n]],
      timeMs: undefined,
      skipped: 10,
    })
  })

  it('refuses what is no frame', () => {
    const garbage = [
      '',
      'hello',
      '{',
      '{}',
      '[]',
      '[1,2,3]',
      '["a"]',
      'null',
      '7',
      '"m"',
      '{"m":[0,1]}',
      '{"m":{},"i":{}}',
    ]
    for (const text of garbage) assert.equal(parseFrame(text), undefined, text)
  })

  it('never throws, and every price is one the chain could have', () => {
    const text = fc.oneof(
      fc.string(),
      fc.json(),
      fc.array(fc.oneof(fc.double(), fc.integer())).map((values) => JSON.stringify(values)),
      fc
        .record({ m: fc.array(fc.oneof(fc.double(), fc.nat())), i: fc.array(fc.double()), t: fc.anything() })
        .map((value) => String(JSON.stringify(value, (_, inner) => (typeof inner === 'bigint' ? 0 : inner)))),
    )
    fc.assert(
      fc.property(text, (message) => {
        const frame = parseFrame(message)
        if (frame?.kind !== 'prices') return
        for (const [pair, price] of [...frame.marks, ...(frame.indices ?? [])]) {
          assert.ok(Number.isInteger(pair) && pair >= 0 && pair <= 65_535)
          assert.ok(price > 0n && price < 2n ** 64n)
        }
      }),
      { numRuns: 2_000 },
    )
  })
})
