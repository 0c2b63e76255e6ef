import assert from 'node:assert/strict'
import { describe, it, mock } from 'node:test'
import { listenForWallets, type WalletWindow } from './announcements.ts'

const provider = { request: async () => null }

function createPage(ethereum?: typeof provider) {
  const target = new EventTarget()
  const page: WalletWindow = {
    addEventListener: (type, listener) => target.addEventListener(type, listener),
    dispatchEvent: (event) => target.dispatchEvent(event),
    ...(ethereum === undefined ? {} : { ethereum }),
  }
  const announce = (detail: unknown): void =>
    void target.dispatchEvent(Object.assign(new Event('eip6963:announceProvider'), { detail }))
  return { target, page, announce }
}

const detail = (name: string, rdns: string) => ({
  info: { uuid: `${rdns}-1`, name, icon: 'data:image/svg+xml,<svg/>', rdns },
  provider,
})

describe('wallets of the browser', () => {
  it('are asked to announce themselves, and found when they were there before the page', () => {
    const { target, page, announce } = createPage()
    target.addEventListener('eip6963:requestProvider', () => announce(detail('One', 'org.one')))
    const found = listenForWallets(page)
    assert.deepEqual(
      found.value.map(({ id, name, kind }) => [id, name, kind]),
      [['org.one', 'One', 'extension']],
    )
  })

  it('are found when they announce themselves late, and each once', () => {
    const { page, announce } = createPage()
    const found = listenForWallets(page)
    assert.deepEqual(found.value, [])
    announce(detail('One', 'org.one'))
    announce(detail('One', 'org.one'))
    announce(detail('Two', 'org.two'))
    assert.deepEqual(
      found.value.map(({ id }) => id),
      ['org.one', 'org.two'],
    )
  })

  it('of before EIP-6963 are taken when nobody announces, and give way when somebody does', (test) => {
    mock.timers.enable({ apis: ['setTimeout'] })
    test.after(() => mock.timers.reset())
    const { page, announce } = createPage(provider)
    const found = listenForWallets(page)
    mock.timers.tick(600)
    assert.deepEqual(
      found.value.map(({ id }) => id),
      ['injected'],
    )
    announce(detail('One', 'org.one'))
    assert.deepEqual(
      found.value.map(({ id }) => id),
      ['org.one'],
    )
  })

  it('that are malformed are left out, and pictures of other hosts are not loaded', () => {
    const { page, announce } = createPage()
    const found = listenForWallets(page)
    for (const bad of [null, undefined, {}, { info: {} }, { info: { name: 'x' }, provider: {} }]) announce(bad)
    assert.equal(found.value.length, 0)
    const one = detail('One', 'org.one')
    announce({ ...one, info: { ...one.info, icon: 'https://elsewhere.example/icon.png' } })
    assert.deepEqual(
      found.value.map(({ icon }) => icon),
      [null],
    )
  })
})
