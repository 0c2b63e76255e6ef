import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { parseAddress, type Address, type ChainSlug } from '@bezel/protocol'
import { until } from '@bezel/testkit/until.ts'
import type { Repetition } from '../ground/every.ts'
import { createNotices, startNoticeRounds, type Notices } from './startNotices.ts'
import { openNoticesWorld, type NoticesWorld } from './testing/noticesWorld.ts'

const at = (digit: string): Address => parseAddress(`0x${digit.repeat(40)}`)!
const [ALICE, AGENT] = [at('1'), at('3')]
const HOUR_MS = 3_600_000
const WEEK_MS = 7 * 24 * HOUR_MS

describe('the rounds of notices', () => {
  let world: NoticesWorld
  let notices: Notices
  let rounds: Repetition
  let errors: unknown[]

  beforeEach(async () => {
    errors = []
    world = await openNoticesWorld(['base', 'arbitrum'])
  })
  afterEach(async () => {
    await rounds.close()
    await world.remove()
  })

  function start(marketsOf = world.options().marketsOf): void {
    const error = (...told: unknown[]) => void errors.push(told)
    notices = createNotices(world.options())
    rounds = startNoticeRounds({ ...world.options(), marketsOf, log: { error: error as never } })
  }

  const rows = () => world.opened.store.read.all('select id from notices')

  it('tell, and let go of what is over', async () => {
    await world.register({ agent: AGENT, trader: ALICE }, world.nowMs + HOUR_MS)
    start()
    const [notice] = await until('a notice', async () => {
      const listed = await notices.list(ALICE)
      return listed.length > 0 ? listed : undefined
    })
    assert.equal(notice?.type, 'agent_expiring')
    assert.ok(await notices.dismiss(ALICE, notice.id))
    assert.equal(await notices.dismiss(AGENT, notice.id), false)
    assert.deepEqual(await notices.list(ALICE), [])
    world.nowMs += HOUR_MS + WEEK_MS
    await until('an empty table', async () => (await rows()).length === 0)
    assert.deepEqual(errors, [])
  })

  it('go on on one chain while another has trouble, and say so', async () => {
    world.tradingActivated = 2
    const { marketsOf } = world.options()
    start((slug: ChainSlug) => {
      if (slug === 'base') throw new Error('no markets')
      return marketsOf(slug)
    })
    const [notice] = await until('a notice', async () => {
      const listed = await notices.list(ALICE)
      return listed.length > 0 ? listed : undefined
    })
    assert.deepEqual([notice?.type, notice?.link], ['chain_paused', '/v1/arbitrum'])
    await until('an error', () => errors.length > 0)
  })
})
