import assert from 'node:assert/strict'
import { it } from 'node:test'
import { nearestName } from './nearestName.ts'

it('nearestName finds what was meant, whatever its capitals, and guesses nothing far off', () => {
  assert.equal(nearestName('BEZEL_DTA', ['DEVNET_SEED', 'BEZEL_DATA']), 'BEZEL_DATA')
  assert.equal(nearestName('oder', ['order', 'orders', 'close']), 'order')
  assert.equal(nearestName('Markts', ['markets', 'MARKET']), 'markets')
  assert.equal(nearestName('foo', ['key', 'close']), undefined)
  assert.equal(nearestName('xyzzy', ['watch', 'price']), undefined)
  assert.equal(nearestName('x', []), undefined)
})
