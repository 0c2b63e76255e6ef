import assert from 'node:assert/strict'
import { until } from '@bezel/testkit/until.ts'
import {
  allOrders,
  connectWallet,
  countOnChain,
  enterOrder,
  expectNothingBusy,
  orderOnce,
  placeOrder,
  press,
  readerOf,
  reviewOrder,
  screenOf,
  sendReviewed,
  signIn,
  signInAs,
  untilSigned,
  waitForText,
} from './deeds.ts'
import { describeConsole, type Stage } from './describeConsole.ts'
import type { HeldPrompt } from './extensionWallet.ts'
import type { VisitOptions } from './visit.ts'

const SIZE = { size: '0.02' }
const SIGN = 'eth_signTypedData_v4'
const SEND = 'eth_sendTransaction'
const REFUSED = /refused/i
const OTHER_CHAIN_ID = 1
/** Time for which the service takes a signature. */
const SIGNATURE_MS = 30_000

describeConsole('an extension wallet', {}, (story) => {
  /** Opens the trade page with an extension wallet that is not connected yet. */
  async function sitDown({ world, open }: Stage, name: string, more: VisitOptions = {}) {
    const visit = await open({ path: '/trade/BTC-USD', wallet: name, ...more })
    return { visit, wallet: visit.wallet, at: visit.at, reader: await readerOf(world, name) }
  }

  story('signs in with one prompt, and orders with two', async (stage) => {
    const { visit, wallet, at, reader } = await sitDown(stage, 'trader-1')
    await connectWallet(visit)
    await signIn(visit)
    if (!visit.wasNotReady()) assert.deepEqual(wallet.prompts, ['eth_requestAccounts', SIGN])
    // The first order registers the wallet as its own agent, once for ever.
    const first = await placeOrder(visit, reader, SIZE)
    if (!visit.wasNotReady()) assert.deepEqual(wallet.prompts.slice(2), [SIGN, SIGN, SEND])
    await orderOnce(reader, first.id, 'filled')

    // The wallet and its key survive a reload without a prompt.
    await visit.reload()
    await at('account-menu').waitFor()
    const before = wallet.prompts.length
    const second = await placeOrder(visit, reader, SIZE)
    if (!visit.wasNotReady()) assert.deepEqual(wallet.prompts.slice(before), [SIGN, SEND])
    await orderOnce(reader, second.id, 'filled')
    await expectNothingBusy(visit)
    assert.equal(await countOnChain(stage.world, 'trader-1'), 2)
  })

  story('refuses, and nothing happened', async (stage) => {
    const { visit, wallet, at, reader } = await sitDown(stage, 'trader-2')
    wallet.refuseNext('eth_requestAccounts')
    await at('connect').click()
    await at('wallet-option-Test Wallet').click()
    await waitForText(visit, REFUSED)
    await visit.reload()
    await connectWallet(visit)
    wallet.refuseNext(SIGN)
    await at('sign-in').click()
    await waitForText(visit, REFUSED)
    await signIn(visit)

    await enterOrder(visit, SIZE)
    wallet.refuseNext(SIGN)
    await at('preview').click()
    await at('ticket-problem').filter({ hasText: REFUSED }).waitFor()
    await at('submit').filter({ hasText: 'Sign the request' }).click()
    await untilSigned(visit)
    wallet.refuseNext(SEND)
    await sendReviewed(visit)
    await at('ticket-problem').filter({ hasText: REFUSED }).waitFor()
    await expectNothingBusy(visit)
    assert.equal(await countOnChain(stage.world, 'trader-2'), 0)
    assert.ok((await allOrders(reader)).every(({ txHash }) => txHash === null))

    await at('submit').filter({ hasText: 'Sign the request' }).click()
    await untilSigned(visit)
    await sendReviewed(visit)
    await until('the order', async () => (await countOnChain(stage.world, 'trader-2')) === 1)
  })

  story('without money, gas and allowance is told what is missing, and how to get it', async (stage) => {
    const { visit, at, reader } = await sitDown(stage, 'poor-1')
    await signInAs(visit)
    await enterOrder(visit, SIZE)
    await press(visit, 'preview', at('missing-balance'))
    await at('missing-gas').waitFor()
    // The service learns of a block a moment after the wallet, so a user may have to review again. The page does so by
    // itself after a cure, and a user waits for that.
    const untilCured = (kind: string): Promise<boolean> =>
      until(`${kind} is not missing any more`, async () => {
        if ((await at(`missing-${kind}`).count()) === 0) return true
        if ((await visit.page.locator('[aria-busy="true"]').count()) > 0) return false
        const again = at('submit').filter({ hasText: 'Review again' })
        await again.click({ timeout: 1000 }).catch(() => undefined)
        return false
      })
    await at('cure-balance').click()
    await untilCured('balance')
    await untilCured('gas')
    await visit.reload()
    await press(visit, 'preview', at('missing-allowance'))
    await at('cure-allowance').click()
    await untilCured('allowance')
    await untilSigned(visit)
    await sendReviewed(visit)
    await until('the order', async () => (await countOnChain(stage.world, 'poor-1')) === 1)
    const sent = await until('the service knows of it', async () => {
      const found = (await allOrders(reader)).filter(({ txHash }) => txHash !== null)
      return found.length > 0 ? found : undefined
    })
    assert.equal(sent.length, 1)
  })

  story('that takes its time gets one order, however often one clicks', async (stage) => {
    const { visit, wallet, at } = await sitDown(stage, 'trader-3')
    await signInAs(visit)
    await enterOrder(visit, SIZE)
    const impatiently = async (button: string, held: HeldPrompt): Promise<void> => {
      await at(button).click()
      await held.opened
      for (let click = 0; click < 3; click += 1) await at('submit').dispatchEvent('click')
      held.answer()
    }
    await impatiently('preview', wallet.holdNext(SIGN))
    await untilSigned(visit)
    await impatiently('submit', wallet.holdNext(SEND))
    await until('the order', async () => (await countOnChain(stage.world, 'trader-3')) === 1)
    await expectNothingBusy(visit)
    assert.equal(wallet.prompts.filter((method) => method === SEND).length, 1)
  })

  story('that signs too late for the service is asked once more, and orders once', async (stage) => {
    const { visit, wallet, at, reader } = await sitDown(stage, 'trader-5', { clockOffMs: 0 })
    await signInAs(visit)
    await reviewOrder(visit, { size: '0.04' })
    await at('review-back').click()
    const held = wallet.holdNext(SIGN)
    await at('preview').click()
    await held.opened
    await visit.passTime(SIGNATURE_MS + 1000)
    held.answer()
    await at('ticket-problem')
      .filter({ hasText: /Signed too late.*Nothing was sent/ })
      .waitFor()
    await untilSigned(visit)
    await sendReviewed(visit)
    await until('the order', async () => (await countOnChain(stage.world, 'trader-5')) === 1)
    assert.equal(wallet.prompts.filter((method) => method === SEND).length, 1)
    const [position] = await until('its position', async () => {
      const positions = await reader.positions.list()
      return positions.length > 0 ? positions : undefined
    })
    await at(`position-close-${position!.id}`).click()
    await press(visit, 'confirm', at(`position-${position!.id}`), 'detached')
    assert.equal(await countOnChain(stage.world, 'trader-5'), 0)
  })

  story('that loses an answer does not order twice', async (stage) => {
    const { visit, wallet, at, reader } = await sitDown(stage, 'trader-4')
    await signInAs(visit)
    wallet.loseNextAnswer()
    const lost = await placeOrder(visit, reader, SIZE)
    await orderOnce(reader, lost.id, 'filled')
    await at('positions').locator('[data-testid^="position-close-"]').first().waitFor()

    // The page is gone when the wallet answers at last.
    await reviewOrder(visit, { size: '0.03' })
    const held = wallet.holdNext(SEND)
    await sendReviewed(visit)
    await held.opened
    await visit.reload()
    held.answer()
    await until('the second order', async () => (await countOnChain(stage.world, 'trader-4')) === 2)
    await at('toast')
      .filter({ hasText: /What became of your order/ })
      .waitFor()
    await until(
      'both are shown',
      async () => (await visit.page.locator('[data-testid^="position-close-"]').count()) === 2,
    )
    assert.equal(wallet.prompts.filter((method) => method === SEND).length, 2)
    assert.equal((await allOrders(reader)).filter(({ txHash }) => txHash !== null).length, 2)
  })

  story('that switches its account in the middle gives the action up', async (stage) => {
    const { visit, wallet, at } = await sitDown(stage, 'trader-5')
    await signInAs(visit)
    await enterOrder(visit, SIZE)
    const held = wallet.holdNext(SIGN)
    await at('preview').click()
    await held.opened
    await wallet.switchAccount(stage.world.chain.account('trader-1'))
    await waitForText(visit, /account .*switched/i)
    held.answer()
    await expectNothingBusy(visit)
    assert.ok(!wallet.prompts.includes(SEND))
    assert.equal(await countOnChain(stage.world, 'trader-5'), 0)
    await visit.reload()
    await at('account-menu').waitFor()
    await at('account-menu')
      .filter({ hasText: stage.world.chain.account('trader-1').address.slice(-4) })
      .waitFor()
  })

  story('on another network is asked to switch', async (stage) => {
    const { visit, wallet, at } = await sitDown(stage, 'trader-5')
    await signInAs(visit)
    await wallet.switchChain(OTHER_CHAIN_ID)
    await at('switch-chain').waitFor()
    await visit.reload()
    wallet.refuseNext('wallet_switchEthereumChain')
    await at('switch-chain').click()
    await waitForText(visit, REFUSED)
    await at('switch-chain').click()
    await at('switch-chain').waitFor({ state: 'detached' })
    assert.equal(wallet.prompts.at(-1), 'wallet_switchEthereumChain')
  })

  story('serves two tabs with one key, and both show the same', async (stage) => {
    const { visit, wallet, at, reader } = await sitDown(stage, 'trader-5')
    await signInAs(visit)
    const other = screenOf(await visit.newTab('/portfolio'))
    await signInAs(other)
    if (!visit.wasNotReady()) assert.equal(wallet.prompts.filter((method) => method === SIGN).length, 1)
    const { id } = await placeOrder(visit, reader, SIZE)
    const { fill } = await orderOnce(reader, id, 'filled')
    await other.at(`position-${fill!.positionId}`).waitFor()
    await other.page.reload()
    await other.at(`position-close-${fill!.positionId}`).click()
    await press(other, 'confirm', other.at(`position-${fill!.positionId}`), 'detached')
    await at(`position-${fill!.positionId}`).waitFor({ state: 'detached' })
    assert.deepEqual(await reader.positions.list(), [])
  })

  story('works with a clock that is off by a minute', async (stage) => {
    const { visit, at, reader } = await sitDown(stage, 'trader-5', { clockOffMs: -60_000 })
    await signInAs(visit)
    await visit.reload()
    await at('account-menu').waitFor()
    const { id } = await placeOrder(visit, reader, SIZE)
    const { fill } = await orderOnce(reader, id, 'filled')
    await at(`position-close-${fill!.positionId}`).click()
    await press(visit, 'confirm', at(`position-${fill!.positionId}`), 'detached')
  })

  story('orders nothing in a market that closed while the ticket was open', async (stage) => {
    const { visit, at } = await sitDown(stage, 'trader-5', { path: '/trade/EUR-USD' })
    const { control } = stage.world.chain
    await control('bezel_setMarketOpen', 'EUR/USD', true)
    await at('market-status').filter({ hasText: /open/i }).waitFor()
    await signInAs(visit)
    await reviewOrder(visit, { size: '1000' })
    await control('bezel_setMarketOpen', 'EUR/USD', false)
    await at('review-outdated')
      .filter({ hasText: /closed/i })
      .waitFor()
    assert.match((await at('submit').textContent())!, /Review again/)
    await visit.reload()
    await at('ticket')
      .filter({ hasText: /closed/i })
      .waitFor()
    assert.ok(await at('preview').isDisabled())
    assert.equal(await countOnChain(stage.world, 'trader-5'), 0)
    await control('bezel_setMarketOpen', 'EUR/USD', null)
  })
})
