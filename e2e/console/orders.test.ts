import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import {
  allOrders,
  countOnChain,
  orderOnce,
  outwaitOracle,
  pauseOracle,
  placeOrder,
  press,
  readerOf,
  seeOrder,
  signInAs,
  waitForText,
} from './deeds.ts'
import { describeConsole, type Stage } from './describeConsole.ts'

describeConsole('orders', {}, (story) => {
  /** Opens the trade page as a trader that is signed in, with a witness beside it. */
  async function sitDown({ world, open }: Stage, name: string) {
    const visit = await open({ path: '/trade/BTC-USD' })
    await signInAs(visit, name)
    return { visit, reader: await readerOf(world, name) }
  }

  story('rest, are still there after a reload, and are cancelled', async (stage) => {
    const { visit, reader } = await sitDown(stage, 'trader-1')
    const { id } = await placeOrder(visit, reader, { type: 'limit', size: '0.02', price: '50000' })
    await visit.at('tab-orders').click()
    await seeOrder(visit, id, 'open')
    await visit.reload()
    await visit.at('tab-orders').click()
    await press(visit, `order-cancel-${id}`, visit.at(`order-cancel-${id}`), 'detached')
    await seeOrder(visit, id, 'canceled')
    assert.equal((await orderOnce(reader, id, 'canceled')).status, 'canceled')
  })

  story('that are rejected say why, and what to do', async (stage) => {
    const { visit, reader } = await sitDown(stage, 'trader-2')
    await pauseOracle(stage.world, true)
    const { id } = await placeOrder(visit, reader, { size: '0.02', slippage: '0.1' })
    await orderOnce(reader, id, 'pending')
    await visit.at('tab-orders').click()
    await seeOrder(visit, id, 'pending')
    await visit.reload()
    await stage.world.setPrice(60_500)
    await pauseOracle(stage.world, false)
    await orderOnce(reader, id, 'rejected')
    await visit.page.goto(`/portfolio?order=${id}`)
    const timeline = visit.at('timeline')
    await timeline
      .getByTestId('step-rejected')
      .filter({ hasText: /slippage/i })
      .waitFor()
    for (const kind of ['prepared', 'sent', 'pending']) await timeline.getByTestId(`step-${kind}`).waitFor()
    await stage.world.moveTo(60_000)
  })

  story('that the oracle never answers are reclaimed', async (stage) => {
    const { visit, reader } = await sitDown(stage, 'trader-3')
    await pauseOracle(stage.world, true)
    const { id } = await placeOrder(visit, reader, { size: '0.02' })
    await orderOnce(reader, id, 'pending')
    await outwaitOracle(stage.world)
    await visit.at('tab-orders').click()
    await visit.at(`order-reclaim-${id}`).waitFor()
    await visit.reload()
    await visit.at('tab-orders').click()
    await press(visit, `order-reclaim-${id}`, visit.at(`order-reclaim-${id}`), 'detached')
    await orderOnce(reader, id, 'canceled')
    await visit.page.goto(`/portfolio?order=${id}`)
    const timeline = visit.at('timeline')
    for (const kind of ['pending', 'timed_out', 'canceled']) await timeline.getByTestId(`step-${kind}`).waitFor()
    await pauseOracle(stage.world, false)
  })

  story('and positions end at once by flatten', async (stage) => {
    const { visit, reader } = await sitDown(stage, 'trader-4')
    const opened = await placeOrder(visit, reader, { size: '0.02' })
    const { fill } = await orderOnce(reader, opened.id, 'filled')
    const resting = await placeOrder(visit, reader, { type: 'limit', size: '0.02', price: '50000' })
    await orderOnce(reader, resting.id, 'open')
    await visit.at('nav-portfolio').filter({ visible: true }).click()
    await visit.at(`position-${fill!.positionId}`).waitFor()
    const dialogIn = (step: string) => visit.page.locator(`[data-testid="flatten-dialog"][data-stage="${step}"]`)

    // Reloaded before anything was sent: all of it is left.
    const asked = Promise.withResolvers<void>()
    await visit.page.route('**/flatten', () => asked.resolve())
    await visit.at('flatten').click()
    await visit.at('flatten-confirm').click()
    await asked.promise
    await visit.reload()
    await visit.page.unroute('**/flatten')
    await dialogIn('interrupted')
      .filter({ hasText: /0 of \d ended/ })
      .waitFor()

    // Reloaded while the oracle owes an answer: that is seen, waited for, and not asked for again.
    await pauseOracle(stage.world, true)
    await press(visit, 'flatten-continue', dialogIn('waiting').filter({ hasText: /[1-9] of \d ended/ }))
    await visit.reload()
    await dialogIn('interrupted')
      .filter({ hasText: /[1-9] of \d ended/ })
      .filter({ hasText: 'on its way' })
      .waitFor()
    assert.equal(await visit.at('flatten-continue').count(), 0)
    await pauseOracle(stage.world, false)
    await visit.at('flatten-done').waitFor()
    await visit.at('cancel-dialog').click()
    const closes = (await allOrders(reader)).filter(({ reduceOnly, txHash }) => reduceOnly && txHash !== null)
    assert.deepEqual(
      closes.map(({ status }) => status),
      ['filled'],
    )
    await visit.at(`position-${fill!.positionId}`).waitFor({ state: 'detached' })
    await orderOnce(reader, resting.id, 'canceled')
    assert.equal(await countOnChain(stage.world, 'trader-4'), 0)
    await waitForText(visit, /no open position/i)

    await visit.at('nav-history').filter({ visible: true }).click()
    await visit.at('equity-chart').waitFor()
    await visit
      .at('books-balance')
      .filter({ hasText: /The books balance/ })
      .waitFor()
    const [download] = await Promise.all([visit.page.waitForEvent('download'), visit.at('csv-books').click()])
    assert.match(readFileSync(await download.path(), 'utf8'), /USDC/)
  })
})
