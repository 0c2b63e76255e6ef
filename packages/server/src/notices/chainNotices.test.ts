import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { parseAddress, type Address } from '@bezel/protocol'
import { dismissNotice, listNotices } from '../store/noticeStore.ts'
import { NOBODY, openNoticesWorld, type NoticesWorld } from './testing/noticesWorld.ts'
import { openChainNotices, type ChainNotices } from './chainNotices.ts'
import { TEST_SCOPE } from '../store/testing/testScope.ts'

const at = (digit: string): Address => parseAddress(`0x${digit.repeat(40)}`)!
const [ALICE, BOB, AGENT, OTHER, STRANGER] = [at('1'), at('2'), at('3'), at('4'), at('5')]
const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

let world: NoticesWorld
let watch: ChainNotices
beforeEach(async () => {
  world = await openNoticesWorld()
  watch = watchBase()
})
afterEach(async () => {
  watch.close()
  await world.remove()
})

function watchBase(): ChainNotices {
  const { agentsOf, marketsOf, store, now } = world.options()
  return openChainNotices({ agents: agentsOf('base'), markets: () => marketsOf('base'), store, now })
}

async function restart(): Promise<void> {
  watch.close()
  await world.restart()
  watch = watchBase()
}

const shown = (trader = ALICE) => listNotices(world.opened.store.read, trader, { nowMs: world.nowMs, limit: 200 })
const typesOf = async (trader = ALICE) => (await shown(trader)).map(({ type }) => type)
const idOf = async (trader = ALICE) => (await shown(trader))[0]?.id
const dismiss = (id: number) => world.opened.store.transaction(TEST_SCOPE, (sql) => dismissNotice(sql, ALICE, id))

/** Counts the transactions that a round starts. */
async function transactionsOf(round: () => Promise<void>): Promise<number> {
  const { store } = world.opened
  const { transaction } = store
  let count = 0
  Object.assign(store, {
    transaction(scope: never, work: never) {
      count += 1
      return transaction(scope, work)
    },
  })
  await round()
  Object.assign(store, { transaction })
  return count
}

describe('the expiry of agents', () => {
  it('is told a day before, and when it comes', async () => {
    await world.register({ agent: AGENT, trader: ALICE }, world.nowMs + DAY_MS + HOUR_MS)
    await watch.settle()
    assert.deepEqual(await typesOf(), [])
    world.nowMs += HOUR_MS
    await watch.settle()
    assert.deepEqual(await typesOf(), ['agent_expiring'])
    assert.deepEqual(await typesOf(BOB), [])
    world.nowMs += DAY_MS
    await watch.settle()
    assert.deepEqual(await typesOf(), ['agent_expired'])
    world.nowMs += 7 * DAY_MS
    await watch.settle()
    assert.deepEqual(await typesOf(), [])
  })

  it('is told once: later rounds and restarts write nothing, and keep its id', async () => {
    await world.register({ agent: AGENT, trader: ALICE }, world.nowMs + HOUR_MS)
    await watch.settle()
    const id = await idOf()
    assert.equal(await transactionsOf(() => watch.settle()), 0)
    await restart()
    assert.equal(await transactionsOf(() => watch.settle()), 0)
    assert.equal(await idOf(), id)
  })

  it('is no longer told of an agent that was authorised again or revoked', async () => {
    await world.register({ agent: AGENT, trader: ALICE }, world.nowMs - HOUR_MS)
    await world.register({ agent: OTHER, trader: ALICE }, world.nowMs + HOUR_MS)
    await watch.settle()
    assert.deepEqual((await typesOf()).toSorted(), ['agent_expired', 'agent_expiring'])
    await world.register({ agent: AGENT, trader: ALICE }, world.nowMs + 30 * DAY_MS)
    await world.register({ agent: OTHER, trader: ALICE, revoked: true }, world.nowMs + HOUR_MS)
    await watch.settle()
    assert.deepEqual(await typesOf(), [])
  })

  it('is told anew, whoever dismissed it, when a new expiry comes near', async () => {
    await world.register({ agent: AGENT, trader: ALICE }, world.nowMs + HOUR_MS)
    await watch.settle()
    await dismiss((await idOf())!)
    await world.register({ agent: AGENT, trader: ALICE }, world.nowMs + 2 * HOUR_MS)
    await watch.settle()
    assert.deepEqual(await typesOf(), ['agent_expiring'])
  })
})

describe('a pause of a chain', () => {
  it('is told to everybody for as long as it lasts, by one id', async () => {
    world.tradingActivated = 2
    await watch.settle()
    const [paused] = await shown(BOB)
    assert.deepEqual([paused?.type, paused?.severity, paused?.expiresAt], ['chain_paused', 'critical', null])
    assert.equal(await transactionsOf(() => watch.settle()), 0)
    await restart()
    world.tradingActivated = undefined
    await watch.settle()
    assert.equal(await idOf(), paused?.id, 'what was told stands until the chain is read')
    world.tradingActivated = 2
    await watch.settle()
    assert.equal(await idOf(), paused?.id)
    world.tradingActivated = 1
    await watch.settle()
    assert.deepEqual(await typesOf(), ['chain_close_only'])
    world.tradingActivated = 0
    await watch.settle()
    assert.deepEqual(await typesOf(), [])
  })

  it('is something new the next time', async () => {
    world.tradingActivated = 2
    await watch.settle()
    await dismiss((await idOf())!)
    assert.deepEqual([await typesOf(ALICE), await typesOf(BOB)], [[], ['chain_paused']])
    world.tradingActivated = 0
    await watch.settle()
    world.tradingActivated = 2
    await watch.settle()
    assert.deepEqual(await typesOf(ALICE), ['chain_paused'])
  })
})

describe('a delegation', () => {
  async function delegateTo(delegate: Address): Promise<void> {
    world.delegate = delegate
    world.nowMs += 31_000
    await watch.settle()
  }

  beforeEach(async () => {
    await world.register({ agent: AGENT, trader: ALICE })
    world.delegate = AGENT
    // Every request of the agent reads the delegate like this.
    await world.agentsOf('base').delegates.read(ALICE)
    await watch.settle()
    assert.deepEqual(await typesOf(), [])
  })

  it('that is removed is told, once, and no more when it is back', async () => {
    await delegateTo(NOBODY)
    assert.deepEqual(await typesOf(), ['delegation_removed'])
    assert.equal(await transactionsOf(() => watch.settle()), 0)
    world.delegate = AGENT
    world.nowMs += 31_000
    await world.agentsOf('base').delegates.look(ALICE)
    await watch.settle()
    assert.deepEqual(await typesOf(), [])
    await delegateTo(NOBODY)
    assert.deepEqual(await typesOf(), ['delegation_removed'], 'a second time')
  })

  it('that is replaced is told, with who has it now', async () => {
    await delegateTo(STRANGER)
    const [notice] = await shown()
    assert.deepEqual([notice?.type, notice?.severity], ['delegation_replaced', 'warning'])
    assert.ok(notice?.message.includes(STRANGER))
  })

  it("is told as news, not as a warning, when another of the trader's agents has it now", async () => {
    await world.register({ agent: OTHER, trader: ALICE })
    await delegateTo(OTHER)
    const [notice] = await shown()
    assert.deepEqual([notice?.type, notice?.severity], ['delegation_replaced', 'info'])
  })

  it('that goes while the service is down is told after it', async () => {
    watch.close()
    world.delegate = NOBODY
    await restart()
    await watch.settle()
    assert.deepEqual(await typesOf(), ['delegation_removed'])
  })

  it('that goes because the trader revoked the agent is not told', async () => {
    await world.register({ agent: AGENT, trader: ALICE, revoked: true })
    await delegateTo(NOBODY)
    assert.deepEqual(await typesOf(), [])
  })

  it('that was there before its agent was registered counts from then on', async () => {
    world.delegate = OTHER
    await world.agentsOf('base').delegates.read(BOB)
    await watch.settle()
    await world.register({ agent: OTHER, trader: BOB })
    await watch.settle()
    await delegateTo(NOBODY)
    assert.deepEqual(await typesOf(BOB), ['delegation_removed'])
  })

  it("of somebody who delegates to another trader's agent is told to nobody", async () => {
    await world.agentsOf('base').delegates.read(BOB)
    await watch.settle()
    await delegateTo(NOBODY)
    assert.deepEqual(await typesOf(BOB), [])
  })

  it('is looked at no more often than needed, and not lost while the node is away', async () => {
    await watch.settle()
    const before = world.roundTrips
    for (let round = 0; round < 10; round += 1) await watch.settle()
    assert.equal(world.roundTrips, before)
    world.isNodeAway = true
    await delegateTo(NOBODY)
    assert.deepEqual(await typesOf(), [])
    world.isNodeAway = false
    await delegateTo(NOBODY)
    assert.deepEqual(await typesOf(), ['delegation_removed'])
  })
})
