import assert from 'node:assert/strict'
import { countOnChain, press, readerOf, untilSigned } from './deeds.ts'
import { describeConsole } from './describeConsole.ts'

const SANDBOX_ACCOUNT = 'trader-1'

describeConsole('a first visit', {}, (story) => {
  story('leads from the wallet to a closed trade, and never again', async ({ world, open }) => {
    const visit = await open({ isNewcomer: true })
    const { page, at } = visit
    const pointedAt = (name: string) => page.locator(`[data-guide="${name}"]`).filter({ visible: true }).first()

    await at('guide-step-1').waitFor()
    await pointedAt('wallet').click()
    await at(`wallet-option-${SANDBOX_ACCOUNT}`).click()
    await press(visit, 'sign-in', at('guide-step-2'))

    await pointedAt('market').click()
    await page.waitForURL(/\/trade\/BTC-USD/)

    await at('guide-step-3').waitFor()
    await pointedAt('size').fill('0.02')
    await at('preview-liquidation').filter({ hasText: /\d/ }).waitFor()

    // Nothing is lost on a reload: neither the account, nor the step of the guide, nor what was typed.
    await visit.reload()
    await at('account-menu').waitFor()
    await at('guide-step-3').waitFor()
    await pointedAt('size').fill('0.02')
    // The same finger points at Review, and then at Send.
    await press(visit, 'preview', at('review'))
    await untilSigned(visit)
    await pointedAt('submit').click()

    await at('guide-step-5').waitFor()
    const reader = await readerOf(world, SANDBOX_ACCOUNT)
    await pointedAt('close').click()
    await press(visit, 'confirm', at('guide-done'))
    await at('guide-close').click()
    await at('guide').waitFor({ state: 'detached' })
    assert.deepEqual(await reader.positions.list(), [])
    assert.equal(await countOnChain(world, SANDBOX_ACCOUNT), 0)

    await visit.reload()
    await at('account-menu').waitFor()
    assert.equal(await at('guide').count(), 0)
  })

  story('can be spent without the guide, and without a wallet', async ({ open }) => {
    const visit = await open({ isNewcomer: true })
    const { page, at } = visit
    await at('guide-skip').click()
    await at('guide').waitFor({ state: 'detached' })
    await at('market-search').fill('ETH')
    await at('market-row-ETH-USD').waitFor()
    await at('market-row-BTC-USD').waitFor({ state: 'detached' })
    await at('favourite-ETH-USD').click()
    await visit.reload()
    await at('market-row-ETH-USD').waitFor()
    assert.equal(await at('guide').count(), 0)
    await at('market-search').fill('')
    await at('market-row-BTC-USD').waitFor()
    assert.equal(await at('favourite-ETH-USD').getAttribute('aria-pressed'), 'true')

    await page.goto('/trade/ETH-USD')
    for (const testId of ['chart', 'depth', 'trades', 'ticket']) await at(testId).waitFor()
    for (const view of ['portfolio', 'agents', 'history']) {
      await at(`nav-${view}`).filter({ visible: true }).click()
      await page.waitForURL(new RegExp(`/${view}`))
      await at('connect').first().waitFor()
    }
    await at('nav-system').filter({ visible: true }).click()
    await at('system').waitFor()
  })
})
