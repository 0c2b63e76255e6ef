import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FINGER_PX, placeCard, placeFinger, type Box } from './placement.ts'

const SCREEN = { width: 1280, height: 800 }

const PHONE = { width: 390, height: 844 }

const touches = (a: Box, b: Box): boolean =>
  a.left < b.left + b.width && b.left < a.left + a.width && a.top < b.top + b.height && b.top < a.top + a.height

describe('placeFinger', () => {
  it('points from below, and from elsewhere where there is no room', () => {
    const cases: readonly [Box, string][] = [
      [{ left: 1100, top: 8, width: 120, height: 32 }, 'up'],
      [{ left: 600, top: 760, width: 120, height: 36 }, 'down'],
      [{ left: 0, top: 0, width: 400, height: 800 }, 'left'],
      [{ left: 900, top: 0, width: 380, height: 800 }, 'right'],
    ]
    for (const [target, points] of cases) assert.equal(placeFinger(target, SCREEN)?.points, points)
  })

  it('never covers its target and never leaves the screen', () => {
    for (let left = 0; left <= 1200; left += 40) {
      for (let top = 0; top <= 760; top += 40) {
        const target = { left, top, width: 80, height: 40 }
        const place = placeFinger(target, SCREEN)
        assert.ok(place, `${left} ${top}`)
        const finger = { ...place, width: FINGER_PX, height: FINGER_PX }
        assert.ok(!touches(finger, target))
        assert.ok(place.left >= 0 && place.top >= 0 && place.left <= 1240 && place.top <= 760)
      }
    }
  })

  it('points down at a button above the navigation, and into the navigation all the same', () => {
    const button = { left: 8, top: 732, width: 183, height: 48 }
    assert.equal(placeFinger(button, PHONE, { bottom: 56 })?.points, 'down')
    const item = { left: 65, top: 790, width: 65, height: 50 }
    assert.equal(placeFinger(item, PHONE, { bottom: 56 })?.points, 'down')
  })

  it('is nowhere when the target is scrolled away or fills the screen', () => {
    assert.equal(placeFinger({ left: 10, top: 2_000, width: 80, height: 40 }, SCREEN), null)
    assert.equal(placeFinger({ left: 0, top: 0, ...SCREEN }, SCREEN), null)
  })
})

describe('placeCard', () => {
  const question = { card: { width: 320, height: 140 }, screen: SCREEN, margins: { top: 48, bottom: 0 }, others: [] }

  it('is at the bottom left unless something is there', () => {
    assert.deepEqual(placeCard({ ...question, target: null }), { left: 8, top: 652 })
    const target = { left: 100, top: 700, width: 90, height: 32 }
    assert.deepEqual(placeCard({ ...question, target }), { left: 952, top: 652 })
    const ticket = { left: 940, top: 48, width: 340, height: 752 }
    assert.deepEqual(placeCard({ ...question, target, others: [ticket] }), { left: 8, top: 56 })
  })

  it('never covers the target, wherever that is', () => {
    for (const screen of [SCREEN, PHONE]) {
      for (let top = 0; top < screen.height - 40; top += 20) {
        const target = { left: 20, top, width: 300, height: 40 }
        const card = { width: Math.min(360, screen.width - 16), height: 160 }
        const place = placeCard({ ...question, card, screen, margins: { top: 48, bottom: 56 }, target })
        assert.ok(!touches({ ...place, ...card }, target), `${screen.width} ${top}`)
      }
    }
  })

  it('stays below the header on a screen that is too low for it', () => {
    const place = placeCard({ ...question, screen: { width: 300, height: 160 }, target: null })
    assert.deepEqual(place, { left: 8, top: 56 })
  })
})
