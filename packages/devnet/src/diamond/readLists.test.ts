import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readOpenTrades, readPendingOrders } from './readLists.ts'

/** A Diamond with so many open entries in each of its lists; `asked` has the parts that were read. */
function diamondWith(count: number) {
  const asked: [from: number, to: number][] = []
  const read = async (_view: string, [from, to]: readonly [bigint, bigint]): Promise<unknown> => {
    asked.push([Number(from), Number(to)])
    return Array.from({ length: Number(to - from) + 1 }, (_, i) => {
      const index = Number(from) + i
      return { index, isOpen: index < count, createdBlock: index }
    })
  }
  return { asked, diamond: { read: read as never } }
}

describe('lists of the Diamond', () => {
  for (const count of [0, 1, 15, 16, 17, 48, 1_500]) {
    it(`are read to their end: ${count} entries`, async () => {
      const indices = Array.from({ length: count }, (_, i) => i)
      const orders = await readPendingOrders(diamondWith(count).diamond)
      assert.deepEqual(
        orders.map(({ index }) => index),
        indices,
      )
      const trades = await readOpenTrades(diamondWith(count).diamond)
      assert.deepEqual(
        trades.map(([trade, info]) => [trade.index, info.createdBlock]),
        indices.map((index) => [index, index]),
      )
    })
  }

  it('are asked for in parts that grow up to a bound, the first of them short', async () => {
    const { asked, diamond } = diamondWith(1_500)
    await readPendingOrders(diamond)
    assert.deepEqual(asked.slice(0, 3), [
      [0, 15],
      [16, 47],
      [48, 111],
    ])
    assert.equal(Math.max(...asked.map(([from, to]) => to - from + 1)), 512)
  })
})
