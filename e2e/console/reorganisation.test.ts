import { until } from '@bezel/testkit/until.ts'
import { SOON } from '../sdk/sdkWorld.ts'
import { signInAs, waitForText } from './deeds.ts'
import { describeConsole } from './describeConsole.ts'

/** The number of blocks that the panel replaces. */
const DEPTH = '30'

const ORDER = { market: 'BTC/USD', side: 'long', type: 'market', size: '0.02', leverage: '10' } as const

describeConsole('a reorganisation', {}, (story) => {
  story('takes a fill back before the eyes of its trader, and says so', async ({ world, open }) => {
    const { client } = await world.sdkAccount('trader-1', 'agent-1')
    const visit = await open({ path: '/portfolio' })
    const { at } = visit
    await signInAs(visit, 'trader-1')
    const order = await client.orders.create(ORDER)
    const { fill } = await order.waitForFill(SOON)
    await at(`position-${fill.positionId}`).waitFor()
    await at(`order-timeline-${order.id}`).click()
    const timeline = at('timeline')
    await timeline.getByTestId('step-filled').waitFor()
    const { blockNumber } = await world.chain.client.getTransactionReceipt({ hash: order.txHash! })
    await world.chain.control('bezel_reorgFrom', Number(blockNumber), 'drop')
    await timeline.getByTestId('step-reverted').first().waitFor()
    await at(`position-${fill.positionId}`).waitFor({ state: 'detached' })

    // It is part of the order's life, also after a reload.
    await visit.reload()
    await timeline.getByTestId('step-reverted').first().waitFor()
    await at(`position-${fill.positionId}`).waitFor({ state: 'detached' })
  })

  story('is made on the sandbox panel', async ({ world, open }) => {
    const visit = await open({ path: '/system' })
    const { at } = visit
    await signInAs(visit, 'trader-2')
    await at('sandbox-panel').waitFor()
    await visit.reload()
    await at('sandbox-reorg-depth').fill(DEPTH)
    // On a busy machine more blocks than that may come before the click.
    await until('a block is replaced', async () => {
      const { hash } = await world.chain.client.getBlock()
      await at('sandbox-reorg').click()
      await waitForText(visit, /blocks were replaced/i)
      return world.chain.client.getBlock({ blockHash: hash }).then(
        () => false,
        () => true,
      )
    })
  })
})
