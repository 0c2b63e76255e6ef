import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Price } from '@bezel/protocol'
import { parseFrame } from './parseFrame.ts'
import { createPriceBook, type PriceBook } from './priceBook.ts'

const P10 = 10n ** 10n

function tick(book: PriceBook, text: string, nowMs: number) {
  const frame = parseFrame(text)
  assert.ok(frame?.kind === 'prices')
  return book.applyTick(frame, nowMs)
}

describe('createPriceBook', () => {
  it('keeps mark, index and time of each pair', () => {
    const book = createPriceBook()
    const quotes = tick(book, '{"m":[0,5,1,7],"i":[0,4,1,7],"t":1}', 100)
    const first = { pairIndex: 0, mark: 5n * P10, index: 4n * P10, updatedAtMs: 100 }
    assert.deepEqual(book.get(0), first)
    assert.deepEqual(quotes, [first, book.get(1)])
    assert.equal(book.get(2), undefined)
  })

  it('takes the mark for the index in version 3', () => {
    const book = createPriceBook()
    tick(book, '{"m":[0,5],"i":[0,4],"t":1}', 100)
    tick(book, '[0,6]', 200)
    assert.deepEqual([book.get(0)?.mark, book.get(0)?.index], [6n * P10, 6n * P10])
  })

  it('keeps the index that a frame leaves out, and ignores an index without a mark', () => {
    const book = createPriceBook()
    tick(book, '{"m":[0,5],"i":[0,4],"t":1}', 100)
    tick(book, '{"m":[0,6],"i":[9,4],"t":1}', 200)
    assert.deepEqual([book.get(0)?.mark, book.get(0)?.index], [6n * P10, 4n * P10])
    tick(book, '{"m":[],"i":[0,3],"t":1}', 300)
    assert.deepEqual([book.get(0)?.mark, book.get(0)?.index, book.get(0)?.updatedAtMs], [6n * P10, 3n * P10, 300])
    assert.equal(book.get(9), undefined)
  })

  it('fills in from a snapshot what has not ticked since it was asked for', () => {
    const book = createPriceBook()
    tick(book, '[0,5]', 100)
    tick(book, '[1,5]', 200)
    book.applySnapshot(
      [
        [0, Price.of(6n)],
        [1, Price.of(6n)],
        [2, Price.of(6n)],
      ],
      [[2, Price.of(7n)]],
      150,
      250,
    )
    assert.deepEqual(book.get(0), { pairIndex: 0, mark: 6n, index: 6n, updatedAtMs: 250 })
    assert.equal(book.get(1)?.mark, 5n * P10)
    assert.deepEqual(book.get(2), { pairIndex: 2, mark: 6n, index: 7n, updatedAtMs: 250 })
  })

  it('counts its version up with every change and with nothing else', () => {
    const book = createPriceBook()
    tick(book, '[0,5]', 100)
    const before = book.version()
    tick(book, '{"m":[0,0],"i":[],"t":1}', 100)
    assert.equal(book.version(), before)
    tick(book, '[0,5]', 100)
    assert.equal(book.version(), before + 1)
  })

  it('has a price from before the start as the last one only, until the feed says another', () => {
    const book = createPriceBook()
    const { version } = book
    const before = version()
    const recalled = { pairIndex: 0, mark: Price.of(6n), index: Price.of(6n), updatedAtMs: 50 }
    book.recall([recalled])
    assert.deepEqual([book.get(0), book.last(0), book.last(1)], [undefined, recalled, undefined])
    assert.ok(version() > before)
    tick(book, '[0,5]', 100)
    assert.deepEqual([book.last(0), book.last(0)?.updatedAtMs], [book.get(0), 100])
    book.recall([recalled])
    assert.equal(book.last(0), book.get(0), 'the older one comes too late')
  })
})
