import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createNetworkPlaces } from './connections.ts'

describe('the places of a network', () => {
  it('are bounded per address, and given back', () => {
    const places = createNetworkPlaces(2)
    const free = places.take('10.0.0.1')
    assert.ok(free)
    assert.ok(places.take('10.0.0.1'))
    assert.equal(places.take('10.0.0.1'), undefined)
    assert.ok(places.take('10.0.0.2'))
    free()
    assert.ok(places.take('10.0.0.1'))
    assert.equal(places.take('10.0.0.1'), undefined)
  })

  it('are bounded for an IPv6 /48 too, whichever of its networks ask', () => {
    const places = createNetworkPlaces(2)
    const taken = Array.from({ length: 100 }, (_, at) => places.take(`2001:db8:1:${at.toString(16)}00::/64`))
    assert.equal(taken.filter((free) => free !== undefined).length, 8)
    assert.ok(places.take('2001:db8:2:1::/64'))
  })
})
