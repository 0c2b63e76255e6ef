import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Price } from '@bezel/protocol'
import { flatOhlc } from './candleText.ts'
import { parseState, stateText } from './runningState.ts'
import { addTickTo, createSeries } from './series.ts'

describe('running candles in the store', () => {
  it('come back as they were, with what was heard as what was known before', () => {
    const ticked = {
      ...createSeries(3, '4h', 1_794_700_000_000),
      before: flatOhlc(Price.of(5n)),
      lastClose: Price.of(4n),
      unseen: undefined,
    }
    addTickTo(ticked, Price.of(2n ** 64n - 1n), 1_794_700_000_001)
    const empty = createSeries(65_535, '1m', 1_794_700_000_000)
    const { clockMs, series } = parseState(stateText({ clockMs: 1_794_700_000_001, series: [ticked, empty] }))
    const [first, second] = [...series]
    assert.equal(clockMs, 1_794_700_000_001)
    assert.deepEqual(first?.before, { open: 5n, high: 2n ** 64n - 1n, low: 5n, close: 2n ** 64n - 1n })
    assert.deepEqual(
      [first.timeMs, first.lastClose, first.unseen, first.since],
      [ticked.timeMs, 4n, undefined, undefined],
    )
    assert.deepEqual([second?.before, second?.lastClose, second?.unseen], [undefined, undefined, empty.unseen])
  })
})
