import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { parseAddress, type Hex } from '@bezel/protocol'
import { until } from '@bezel/testkit/until.ts'
import type { DiamondWatch } from '../chain/diamondWatch.ts'
import type { RpcClient } from '../chain/rpcClient.ts'
import type { ServedChain } from '../chain/servedChain.ts'
import { createChainHead, type ChainHead } from '../journal/clock.ts'
import { insertBlock, type FollowedBlock } from '../store/blockStore.ts'
import { acquireLease, renewLease } from '../store/leaseStore.ts'
import { migrate } from '../store/openStore.ts'
import { addUnproven, saveSnapshot } from '../store/snapshotStore.ts'
import type { Sql } from '../store/sql.ts'
import { openTestStore, type TestStore } from '../store/testing/testStore.ts'
import { tellState, withLeader } from './leaderState.ts'
import { openSharedFollower, type SharedFollower, type SharedFollowerOptions } from './sharedFollower.ts'
import type { Follower } from './startFollower.ts'

const SLUG = 'arbitrum-sepolia'
const CHAIN = { slug: SLUG, startBlock: 1 } as ServedChain
const ALICE = parseAddress('0x00000000000000000000000000000000000000a1')!
const hashOf = (n: number): Hex => `0x${n.toString(16).padStart(64, '0')}` as Hex
const blockOf = (number: number): FollowedBlock => ({
  number,
  hash: hashOf(number),
  parentHash: hashOf(number - 1),
  timestampMs: 1_000 * number,
})

/** A watch that has seen nothing wrong. */
const WELL: DiamondWatch = {
  reason: () => undefined,
  warning: () => undefined,
  noteChanges: () => undefined,
  noteLogs: () => undefined,
  noteGap: () => undefined,
  checked: async () => undefined,
  stats: () => assert.fail(),
  close: () => undefined,
}

/** A follower that has not caught up. */
const STARTING: Follower = {
  head: () => undefined,
  reason: () => 'starting',
  knownSince: () => undefined,
  isKnown: () => false,
  unprovenTraders: () => 0,
  snapshotProgress: () => undefined,
  clock: () => ({ nowMs: 0, headBlock: 0, headMs: 0, timeoutBlocks: 1 }),
  stats: () => ({ blocksApplied: 0, blocksUndone: 0, eventsDecoded: 0, lagBlocks: 0 }),
  close: async () => undefined,
}

describe('a follower of several nodes', () => {
  let opened: TestStore
  let head: ChainHead
  let shared: SharedFollower
  let nowMs: number

  beforeEach(async () => {
    nowMs = 1_000_000
    opened = openTestStore()
    await migrate(opened.store)
    head = createChainHead()
    shared = openSharedFollower(options())
  })
  afterEach(async () => {
    await shared.close()
    await opened.remove()
  })

  const client: RpcClient = { roundTrips: () => 0, batch: async () => [{ ok: true, result: '0x7' }] }
  const options = (): SharedFollowerOptions => ({
    chain: CHAIN,
    client,
    store: opened.store,
    head,
    markets: () => undefined,
    now: () => nowMs,
    log: { error: assert.fail as never },
  })
  const keep = (work: (sql: Sql) => Promise<unknown>): Promise<unknown> =>
    opened.store.transaction({ chain: SLUG }, work)
  const keepBlock = (number: number): Promise<unknown> => keep((sql) => insertBlock(sql, SLUG, blockOf(number)))
  /** Holds the lease as another node that follows. */
  const followElsewhere = (): Promise<unknown> =>
    keep((sql) => acquireLease(sql, { role: 'follower', chain: SLUG }, 'another'))
  const untilRead = (number: number): Promise<boolean> =>
    until(`block ${number} is the head`, () => shared.reason() !== 'starting' && shared.head()?.number === number)

  it('shows the head that another node stored, in its clock too', async () => {
    assert.deepEqual([shared.reason(), shared.head()], ['starting', undefined])
    await keepBlock(6)
    await untilRead(6)
    await keepBlock(7)
    await untilRead(7)
    assert.deepEqual([shared.reason(), head.current()?.hash], [undefined, hashOf(7)])
    const { headBlock, headMs } = shared.clock()
    assert.deepEqual([headBlock, headMs, shared.knownSince()], [7, 7_000, { block: 1, timestampMs: null }])
  })

  it('takes a head over that another node told, and keeps it from what was read before', async () => {
    await keepBlock(7)
    const { read } = opened.store
    const reading = Promise.withResolvers<void>()
    const answered = Promise.withResolvers<void>()
    const get: Sql['get'] = async (statement, ...params) => {
      const row = await read.get<never>(statement, ...params)
      reading.resolve()
      await answered.promise
      return row
    }
    const own = createChainHead()
    const slow = openSharedFollower({ ...options(), head: own, store: { read: { ...read, get } } })
    await reading.promise
    slow.noteHead(blockOf(8))
    answered.resolve()
    await nextTurn()
    assert.equal(own.current()?.number, 8)
    await slow.close()
  })

  it('knows nobody after the last part of a snapshot, until it knows whom that left unproven', async () => {
    const taking = { block: blockOf(6), traderCount: 2, nextTrader: 1, isComplete: false }
    await keep((sql) => saveSnapshot(sql, SLUG, taking))
    await until('the snapshot was seen', () => shared.reason() === 'snapshot')
    shared.noteHead(blockOf(6))
    assert.deepEqual([shared.reason(), shared.isKnown(ALICE), shared.head()?.number], ['snapshot', false, 6])
    await keep(async (sql) => {
      await insertBlock(sql, SLUG, blockOf(6))
      await saveSnapshot(sql, SLUG, { ...taking, nextTrader: 2, isComplete: true })
      await addUnproven(sql, SLUG, { trader: ALICE, reason: 'a test' })
    })
    await until('its end was seen', () => shared.reason() === undefined)
    assert.equal(shared.isKnown(ALICE), false)
  })

  it('says so when the head moves and nobody tells of it for five seconds', async () => {
    await keepBlock(7)
    await untilRead(7)
    nowMs += 5_000
    assert.equal(shared.isTold(), true, 'the first head was there before')
    await keepBlock(8)
    await untilRead(8)
    assert.equal(shared.isTold(), true)
    nowMs += 5_000
    assert.equal(shared.isTold(), false)
    shared.noteHead(blockOf(8))
    nowMs += 5_000
    assert.equal(shared.isTold(), true)
  })

  it('is lagging once nobody has followed for ten seconds', async () => {
    await keepBlock(7)
    await untilRead(7)
    nowMs += 10_001
    await until('it is lagging', () => shared.reason() === 'chain_lagging')
    await until('it is well again', async () => {
      await followElsewhere()
      return shared.reason() === undefined
    })
  })

  it('passes on what only the node that follows can see', async () => {
    await keepBlock(7)
    await untilRead(7)
    await followElsewhere()
    const watch = withLeader(WELL, shared)
    assert.deepEqual([watch.reason(), watch.warning()], [undefined, undefined])
    const tell = (told: string): Promise<unknown> =>
      keep((sql) => renewLease(sql, { role: 'follower', chain: SLUG, holder: 'another', token: 1n }, told))
    await tell(tellState(shared, { reason: () => 'diamond_changed', warning: () => 'It was cut.' }))
    await until('the cut is known', () => watch.reason() === 'diamond_changed')
    assert.equal(watch.warning(), 'It was cut.')
    assert.equal(shared.reason(), undefined)
    await tell(tellState({ reason: () => 'reorg_too_deep' }, WELL))
    await until('the reorganisation is known', () => shared.reason() === 'reorg_too_deep')
    assert.equal(watch.reason(), undefined)
    const end = shared.lead(() => ({ ...STARTING, reason: () => undefined }))
    assert.deepEqual([shared.leaderState(), shared.reason()], [undefined, undefined])
    await end()
  })

  it('knows nobody who is not proven', async () => {
    await keepBlock(7)
    await untilRead(7)
    assert.equal(shared.isKnown(ALICE), true)
    await keep((sql) => addUnproven(sql, SLUG, { trader: ALICE, reason: 'a test' }))
    await until('she is doubted', () => !shared.isKnown(ALICE))
    assert.equal(shared.unprovenTraders(), 1)
  })

  it('doubts a trader with the step that undoes what was found, also when an older look ends after it', async () => {
    await keepBlock(7)
    const { read } = opened.store
    const looked = Promise.withResolvers<void>()
    const answered = Promise.withResolvers<void>()
    const all: Sql['all'] = async (statement, ...params) => {
      const rows = await read.all<never>(statement, ...params)
      looked.resolve()
      await answered.promise
      return rows
    }
    const own = createChainHead()
    const slow = openSharedFollower({ ...options(), head: own, store: { read: { ...read, all } } })
    await looked.promise
    await keep((sql) => addUnproven(sql, SLUG, { trader: ALICE, reason: 'a test' }))
    slow.noteHead(blockOf(6), [ALICE])
    answered.resolve()
    await until('the look is over', () => slow.reason() !== 'starting')
    assert.equal(slow.isKnown(ALICE), false)
    await slow.close()
  })

  it('is the own one while this node leads, once that has caught up', async () => {
    await keepBlock(7)
    await untilRead(7)
    let reason: ReturnType<Follower['reason']> = 'starting'
    let isClosed = false
    const end = shared.lead(() => ({
      ...STARTING,
      reason: () => reason,
      head: () => blockOf(9),
      close: async () => void (isClosed = true),
    }))
    assert.deepEqual([shared.isOwn(), shared.reason(), shared.head()?.number], [true, undefined, 7])
    reason = undefined
    assert.equal(shared.head()?.number, 9)
    reason = 'reorg_too_deep'
    assert.equal(shared.reason(), 'reorg_too_deep')
    await keepBlock(8)
    await end()
    assert.deepEqual([isClosed, shared.isOwn(), shared.head()?.number], [true, false, 8])
  })

  it('is well at once when the lead is lost after a long time, with what has changed meanwhile', async () => {
    await keepBlock(7)
    await untilRead(7)
    const end = shared.lead(() => ({ ...STARTING, reason: () => undefined }))
    nowMs += 600_000
    await keepBlock(8)
    await keep((sql) => addUnproven(sql, SLUG, { trader: ALICE, reason: 'a test' }))
    await end()
    assert.deepEqual([shared.reason(), shared.head()?.number, shared.isKnown(ALICE)], [undefined, 8, false])
  })

  it('says so when a node that leads does not catch up', async () => {
    await keepBlock(7)
    await untilRead(7)
    const end = shared.lead(() => STARTING)
    nowMs += 10_000
    assert.equal(shared.reason(), 'starting')
    await end()
  })
})
