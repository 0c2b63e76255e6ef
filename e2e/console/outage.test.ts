import { SOON } from '../sdk/sdkWorld.ts'
import { signInAs, waitForText } from './deeds.ts'
import { describeConsole } from './describeConsole.ts'

const ORDER = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' } as const
/** Faults that a browser reports by itself while nobody listens at the address. */
const AWAY = /ERR_CONNECTION_(?:REFUSED|RESET|CLOSED)|ERR_SOCKET|ERR_EMPTY_RESPONSE|WebSocket/

describeConsole('an outage', {}, (story) => {
  story('of the service is said, waited out, and over without a reload', async ({ world, open }) => {
    const { client } = await world.sdkAccount('trader-1', 'agent-1')
    const visit = await open({ path: '/trade/BTC-USD' })
    const { at } = visit
    visit.expect(AWAY)
    await signInAs(visit, 'trader-1')
    const { fill } = await (await client.orders.create(ORDER)).waitForFill(SOON)
    await at(`position-${fill.positionId}`).waitFor()
    const isLive = at('connection').filter({ hasText: /live/i })
    await isLive.waitFor()

    await world.stopService()
    await isLive.waitFor({ state: 'detached' })
    await at('banner').first().waitFor()
    await at(`position-${fill.positionId}`).waitFor()
    await world.startService()
    await isLive.waitFor()
    await at('banner').first().waitFor({ state: 'detached' })

    // What happens afterwards is told as before, also to a page that was loaded anew.
    const second = await (await client.orders.create({ ...ORDER, side: 'short' })).waitForFill(SOON)
    await at(`position-${second.fill.positionId}`).waitFor()
    await visit.reload()
    await at(`position-${second.fill.positionId}`).waitFor()
    await world.crash()
    await isLive.waitFor()
    const ended = await client.flatten({ slippage: '2' })
    await ended.wait(SOON)
    await at(`position-${second.fill.positionId}`).waitFor({ state: 'detached' })
  })

  story('of the prices is said, and ends by itself', async ({ world, open }) => {
    const visit = await open({ path: '/trade/BTC-USD' })
    const { at } = visit
    await at('connection').filter({ hasText: /live/i }).waitFor()
    const { child } = world.devnet
    child.kill('SIGSTOP')
    try {
      await at('banner')
        .filter({ hasText: /price feed/i })
        .waitFor()
      await at('connection').filter({ hasText: /stale/i }).waitFor()
      // A page that is loaded now has no price at all, and is not blank.
      await visit.reload()
      await at('ticket').waitFor()
      await waitForText(visit, /no price|not ready|unavailable|silent|stale/i)
    } finally {
      child.kill('SIGCONT')
    }
    await at('market-status').filter({ hasText: /open/i }).waitFor()
    await at('connection').filter({ hasText: /live/i }).waitFor()
  })
})
