import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createShortcuts, isTyping } from './shortcuts.ts'

describe('createShortcuts', () => {
  it('opens a page by two keys', () => {
    const shortcuts = createShortcuts(['m'])
    assert.equal(shortcuts.press('g', 0), null)
    assert.deepEqual(shortcuts.press('m', 100), { kind: 'page', key: 'm' })
    assert.equal(shortcuts.press('m', 200), null)
  })

  it('forgets the first key after a while, and after any other key', () => {
    const shortcuts = createShortcuts(['m'])
    shortcuts.press('g', 0)
    assert.equal(shortcuts.press('m', 5_000), null)
    shortcuts.press('g', 6_000)
    shortcuts.press('x', 6_100)
    assert.equal(shortcuts.press('m', 6_200), null)
  })

  it('knows the single keys', () => {
    const shortcuts = createShortcuts(['m'])
    assert.deepEqual(shortcuts.press('?', 0), { kind: 'help' })
    assert.deepEqual(shortcuts.press('/', 0), { kind: 'search' })
  })
})

describe('isTyping', () => {
  const plain = { ctrlKey: false, metaKey: false, altKey: false, target: { tagName: 'BUTTON' } }

  it('leaves fields and the keys of the browser alone', () => {
    assert.equal(isTyping(plain), false)
    assert.equal(isTyping({ ...plain, target: null }), false)
    assert.equal(isTyping({ ...plain, target: { tagName: 'INPUT' } }), true)
    assert.equal(isTyping({ ...plain, target: { tagName: 'DIV', isContentEditable: true } }), true)
    assert.equal(isTyping({ ...plain, metaKey: true }), true)
  })
})
