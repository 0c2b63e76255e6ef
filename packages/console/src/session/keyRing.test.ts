import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createMemoryStore } from '../data/storage.ts'
import { createKeyRing, type TabChannel, type TabMessage } from './keyRing.ts'

const OWNER = { chain: 'base', trader: '0xAbC' }
const KEY = { apiKey: 'bz_1', label: 'console-00000a' }

/** A browser whose tabs hear each other. */
function createBrowser() {
  const browser = createMemoryStore()
  const listeners: ((message: TabMessage, from: object) => void)[] = []
  let made = 0
  function openTab(tab = createMemoryStore()) {
    const self = {}
    const ended: string[] = []
    const channel: TabChannel = {
      post: (message) => listeners.forEach((listen) => listen(message, self)),
      listen: (onMessage) => void listeners.push((message, from) => from !== self && onMessage(message)),
    }
    const keys = createKeyRing({
      tab,
      browser,
      channel,
      borrowMs: 5,
      randomHex: (bytes) => ((made += 1) + 9).toString(16).padStart(bytes * 2, '0'),
      onEndedElsewhere: ({ trader }) => ended.push(trader),
    })
    return { keys, ended, tab }
  }
  return { openTab }
}

describe('the read-only keys of a browser', () => {
  it('have one label for all tabs, for ever', () => {
    const { openTab } = createBrowser()
    const first = openTab()
    assert.equal(first.keys.label, 'console-00000a')
    assert.equal(openTab().keys.label, 'console-00000a')
    assert.match(createBrowser().openTab().keys.label, /^console-[0-9a-f]{6}$/)
  })

  it('survive a reload, each for its chain and account', () => {
    const { openTab } = createBrowser()
    const { keys, tab } = openTab()
    keys.keep(OWNER, KEY)
    const again = openTab(tab).keys
    assert.deepEqual(again.keyOf({ ...OWNER, trader: '0xaBc' }), KEY)
    assert.equal(again.keyOf({ ...OWNER, chain: 'polygon' }), null)
    assert.equal(again.keyOf({ ...OWNER, trader: '0xdef' }), null)
    assert.deepEqual(again.keysOf('0xABC'), [{ chain: 'base', trader: '0xABC', ...KEY }])
  })

  it('are lent to a second tab, so that it costs no signature', async () => {
    const { openTab } = createBrowser()
    const [one, two] = [openTab(), openTab()]
    one.keys.keep(OWNER, KEY)
    assert.equal(two.keys.keyOf(OWNER), null)
    assert.deepEqual(await two.keys.borrow(OWNER), KEY)
    assert.deepEqual(two.keys.keyOf(OWNER), KEY)
    assert.equal(await two.keys.borrow({ ...OWNER, chain: 'polygon' }), null)
  })

  it('that are replaced in one tab are replaced in the others', () => {
    const { openTab } = createBrowser()
    const [one, two, stranger] = [openTab(), openTab(), openTab()]
    one.keys.keep(OWNER, KEY)
    two.keys.keep(OWNER, { ...KEY, apiKey: 'bz_2' })
    assert.equal(one.keys.keyOf(OWNER)?.apiKey, 'bz_2')
    assert.equal(stranger.keys.keyOf(OWNER), null)
  })

  it('that end in one tab end in the others, which are told', () => {
    const { openTab } = createBrowser()
    const [one, two] = [openTab(), openTab()]
    one.keys.keep(OWNER, KEY)
    two.keys.keep(OWNER, KEY)
    const before = two.keys.version.value
    one.keys.drop(OWNER, true)
    assert.deepEqual([one.keys.keyOf(OWNER), two.keys.keyOf(OWNER)], [null, null])
    assert.deepEqual([one.ended, two.ended], [[], [OWNER.trader]])
    assert.ok(two.keys.version.value > before)
  })

  it('that are only forgotten here go on elsewhere', () => {
    const { openTab } = createBrowser()
    const [one, two] = [openTab(), openTab()]
    one.keys.keep(OWNER, KEY)
    two.keys.keep(OWNER, KEY)
    one.keys.drop(OWNER, false)
    assert.deepEqual(two.keys.keyOf(OWNER), KEY)
  })
})
