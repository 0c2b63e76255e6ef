import assert from 'node:assert/strict'
import type { Position } from '@bezel/sdk'
import { until } from '@bezel/testkit/until.ts'
import { SOON, type SdkWorld } from '../sdk/sdkWorld.ts'
import { outwaitOracle, pauseOracle, press, signInAs } from './deeds.ts'
import { describeConsole } from './describeConsole.ts'
import type { Visit } from './visit.ts'

const ORDER = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' } as const
/** Distance by which a line is dragged, in pixels. */
const DRAG_PX = 40

describeConsole('positions', {}, (story) => {
  story('get a take profit by dragging its line', async ({ world, open }) => {
    const { client, id } = await openPosition(world, 1, { tp: '60600', sl: '59400' })
    const visit = await open({ path: '/trade/BTC-USD' })
    const { page, at } = visit
    await signInAs(visit, 'trader-1')
    await at(`position-${id}`).waitFor()
    const line = at(`line-tp-${id}`)
    await line.waitFor()
    const scrolled = await page.evaluate<number>('scrollY')
    await dragUp(visit, `line-tp-${id}`)
    await at('confirm').waitFor()
    assert.equal(await page.evaluate<number>('scrollY'), scrolled, 'dragging moved the page')

    // A drag that is not confirmed changes nothing, and a reload forgets it.
    await visit.reload()
    assert.equal((await client.positions.get(id)).tp, '60600')
    await line.waitFor()
    await dragUp(visit, `line-tp-${id}`)
    await press(visit, 'confirm', at('confirm'), 'detached')
    const { tp, sl } = await until('the take profit moved', async (saw) => {
      const position = await client.positions.get(id)
      saw(position)
      return position.tp === '60600' ? undefined : position
    })
    assert.ok(Number(tp) > 60_600, `the take profit is ${tp}`)
    assert.equal(sl, '59400')
    await at(`position-${id}`)
      .filter({ hasText: shown(tp!) })
      .waitFor()
  })

  story('get a stop loss by the keyboard alone', async ({ world, open }) => {
    const { client, id } = await openPosition(world, 4, { sl: '59400' })
    const visit = await open({ path: '/trade/BTC-USD' })
    const { page, at } = visit
    await signInAs(visit, 'trader-4')
    await at(`line-sl-${id}`).focus()
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await at('confirm').waitFor()
    await page.keyboard.press('Escape')
    await at('confirm').waitFor({ state: 'detached' })
    assert.equal((await client.positions.get(id)).sl, '59400')

    await visit.reload()
    await at(`line-sl-${id}`).focus()
    await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await press(visit, 'confirm', at('confirm'), 'detached')
    await until('the stop moved up', async () => Number((await client.positions.get(id)).sl) > 59_400)
  })

  story('keep their leverage when a change times out and is reclaimed', async ({ world, open }) => {
    const { client, id } = await openPosition(world, 2)
    const visit = await open({ path: '/portfolio' })
    const { at } = visit
    await signInAs(visit, 'trader-2')
    await pauseOracle(world, true)
    await at(`position-edit-${id}`).click()
    await at('leverage-input').first().fill('5')
    await press(visit, 'confirm', at(`pending-update-${id}`))
    await visit.reload()
    await at(`pending-update-${id}`).waitFor()
    await outwaitOracle(world)
    await press(visit, `reclaim-update-${id}`, at(`pending-update-${id}`), 'detached')
    await pauseOracle(world, false)
    const { leverage, pendingUpdate } = await client.positions.get(id)
    assert.deepEqual([Number(leverage), pendingUpdate], [10, null])
  })

  story('are closed by half, and then whole', async ({ world, open }) => {
    const { client, id } = await openPosition(world, 3)
    const visit = await open({ path: '/portfolio' })
    const { at } = visit
    await signInAs(visit, 'trader-3')
    const { size } = await client.positions.get(id)
    await at(`position-close-${id}`).click()
    await at('close-percent').first().fill('50')
    await press(visit, 'confirm', at('confirm'), 'detached')
    await until('half of it is left', async () => Number((await client.positions.get(id)).size) < Number(size) * 0.6)
    await visit.reload()
    await at(`position-close-${id}`).click()
    await press(visit, 'confirm', at(`position-${id}`), 'detached')
    assert.deepEqual(await client.positions.list(), [])
  })
})

/** Opens a position as the agent of a trader does, and returns the agent's client. */
async function openPosition(world: SdkWorld, number: number, stops: Partial<Pick<Position, 'tp' | 'sl'>> = {}) {
  const { client } = await world.sdkAccount(`trader-${number}`, `agent-${number}`)
  const set = Object.fromEntries(Object.entries(stops).filter(([, price]) => price !== null))
  const { fill } = await (await client.orders.create({ ...ORDER, ...set })).waitForFill(SOON)
  return { client, id: fill.positionId! }
}

async function dragUp({ page, at }: Visit, testId: string): Promise<void> {
  const box = (await at(testId).boundingBox())!
  const [x, y] = [box.x + box.width / 2, box.y + box.height / 2]
  await page.mouse.move(x, y)
  await page.mouse.down()
  await page.mouse.move(x, y - DRAG_PX / 2, { steps: 4 })
  await page.mouse.move(x, y - DRAG_PX, { steps: 4 })
  await page.mouse.up()
}

/** Returns a pattern of a price as the page shows it, with a separator of thousands and any number of decimals. */
function shown(price: string): RegExp {
  const [whole] = price.split('.')
  return new RegExp(whole!.replace(/(\d)(?=(\d{3})+$)/g, '$1,?'))
}
