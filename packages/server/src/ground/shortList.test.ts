import assert from 'node:assert/strict'
import { it } from 'node:test'
import { shortList } from './shortList.ts'

it('a short list has all names, a long one the first of them and how many there are more', () => {
  const names = Array.from({ length: 300 }, (_, at) => `N${at}`)
  assert.equal(shortList([]), 'none')
  assert.equal(shortList(names.slice(0, 1)), 'N0')
  assert.equal(shortList(names.slice(0, 8)), 'N0, N1, N2, N3, N4, N5, N6, N7')
  assert.equal(shortList(names.slice(0, 9)), 'N0, N1, N2, N3, N4, N5, N6, N7 and 1 more')
  assert.equal(shortList(names), 'N0, N1, N2, N3, N4, N5, N6, N7 and 292 more')
})
