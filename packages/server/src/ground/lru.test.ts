import { deepEqual, equal } from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createLru, type Lru } from './lru.ts'

const keysOf = (lru: Lru<string, unknown>): string[] => [...lru.entries()].map(([key]) => key)

describe('lru', () => {
  it('drops what was used the longest ago', () => {
    const lru = createLru<string, number>(2)
    lru.set('a', 1)
    lru.set('b', 2)
    equal(lru.get('a'), 1)
    lru.set('c', 3)
    deepEqual(keysOf(lru), ['a', 'c'])
    equal(lru.get('b'), undefined)
  })

  it('does not count a peek as a use, but a new value of a known key', () => {
    const lru = createLru<string, number>(2)
    lru.set('a', 1)
    lru.set('b', 2)
    equal(lru.peek('a'), 1)
    lru.set('c', 3)
    deepEqual(keysOf(lru), ['b', 'c'])
    lru.set('b', 4)
    lru.set('d', 5)
    deepEqual(
      [...lru.entries()],
      [
        ['b', 4],
        ['d', 5],
      ],
    )
  })

  it('weighs values, and keeps the newest however heavy it is', () => {
    const lru = createLru<string, string>(5, ({ length }) => length)
    lru.set('a', 'xx')
    lru.set('b', 'xx')
    lru.set('c', 'xx')
    deepEqual(keysOf(lru), ['b', 'c'])
    lru.delete('b')
    lru.set('d', 'xxx')
    deepEqual(keysOf(lru), ['c', 'd'])
    lru.set('e', 'x'.repeat(100))
    deepEqual(keysOf(lru), ['e'])
    lru.set('f', 'x')
    deepEqual(keysOf(lru), ['f'])
  })

  it('holds the last distinct keys, whatever is written', () => {
    const max = 5
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 12 })), (keys) => {
        const lru = createLru<string, number>(max)
        for (const key of keys) lru.set(String(key), key)
        const distinct = [...new Set(keys.toReversed())].slice(0, max).toReversed()
        deepEqual(keysOf(lru), distinct.map(String))
      }),
    )
  })
})
