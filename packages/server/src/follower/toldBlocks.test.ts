import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import { PATIENCE_MS } from '@bezel/testkit/until.ts'
import { installPostgres } from '../../../../scripts/installPostgres.ts'
import { StoreUnavailableError } from '../ground/unavailable.ts'
import { createCommits, type Commits } from '../journal/commits.ts'
import { blockOf } from '../market/testing/blankDiamond.ts'
import { readCommitNumbers } from '../store/commitStore.ts'
import { openPostgres } from '../store/postgres.ts'
import type { Store } from '../store/sql.ts'
import { openSqliteTestStore, type TestStore } from '../store/testing/testStore.ts'
import { openFollowedFake, type FollowedFake } from './testing/followedFake.ts'
import { ALICE, BOB, CHAIN, requested } from './testing/handMade.ts'
import {
  createMarketSteps,
  headAfter,
  marketsOfLeader,
  parseStep,
  type MarketSteps,
  type ToldStep,
} from './toldBlocks.ts'

describe('the steps of a follower', () => {
  let sqlite: TestStore

  beforeEach(() => {
    sqlite = openSqliteTestStore()
  })
  afterEach(() => sqlite.remove())

  it('make no commit on one machine, where nobody else could read it', async () => {
    const fake = await openFollowedFake({}, sqlite)
    fake.node.mine({ from: BOB })
    fake.node.mine()
    await fake.follow()
    assert.equal(fake.following.head()?.number, fake.node.head())
    assert.deepEqual(await readCommitNumbers(sqlite.store.read), new Map())
  })

  describe('on a database of several nodes', () => {
    let server: RunningPostgres
    let databases = 0
    let fake: FollowedFake
    let stores: Store[]
    let other: Commits
    /** The steps that another node has read. */
    let told: ToldStep[]

    before(async () => {
      installPostgres()
      server = await startPostgres()
    })
    after(() => server.remove())
    beforeEach(async () => {
      const url = await server.createDatabase(`steps_${(databases += 1)}`)
      const open = (): Store => openPostgres({ url, connections: 4, statementMs: 60_000, idleTransactionMs: 60_000 })
      stores = [open(), open()]
      fake = await openFollowedFake({}, { ...sqlite, store: stores[0]! })
      told = []
      other = createCommits(stores[1]!, {
        onError: (error) => assert.ok(error instanceof StoreUnavailableError, String(error)),
      })
      other.of(CHAIN).follow({
        apply: ({ step }) => void (step === undefined || told.push(parseStep(step))),
        reload: async () => assert.fail(),
      })
      other.of(CHAIN).begin(0)
      other.start()
    })
    afterEach(async () => {
      await other.close()
      for (const store of stores) await store.close()
    })

    async function followThere(): Promise<void> {
      await fake.follow()
      const number = (await readCommitNumbers(stores[0]!.read)).get(CHAIN) ?? 0
      assert.ok(await other.of(CHAIN).reached(number, PATIENCE_MS))
    }

    it('tell each block, also one without events, with who sent and which logs there may be', async () => {
      fake.node.mine({ from: BOB, events: [requested()] }, { from: ALICE })
      fake.node.mine()
      await followThere()
      const blocks = told.flatMap((step) => (step.kind === 'applied' ? step.blocks : []))
      const first = blocks.find(({ senders }) => senders.length > 0)!
      assert.deepEqual(first.senders.toSorted(), [ALICE, BOB].toSorted())
      assert.match(first.logsBloom ?? '', /^0x[0-9a-f]{512}$/)
      assert.deepEqual(blocks.at(-1)?.block, fake.following.head())
      assert.equal(fake.following.head()?.number, fake.node.head())
    })

    it('tell what is left when blocks are undone', async () => {
      fake.node.mine()
      await followThere()
      const left = fake.following.head()
      fake.node.mine({ from: BOB })
      await followThere()
      fake.node.rewind(1)
      fake.node.mine({ from: ALICE })
      fake.node.mine()
      told.length = 0
      await followThere()
      assert.deepEqual(told[0], { kind: 'undone', head: left })
      assert.deepEqual(headAfter(told[0]), left)
      assert.deepEqual(headAfter(told.at(-1)!), fake.following.head())
    })
  })
})

const applied = (number: number): ToldStep => ({
  kind: 'applied',
  blocks: [{ block: blockOf(number), senders: [], transactions: [] }],
})
const undone = (number: number): ToldStep => ({ kind: 'undone', head: blockOf(number) })

describe('the way of steps to the markets', () => {
  /** Calls of the markets, the first of which takes until the test lets it go. */
  let calls: string[]
  let reading: PromiseWithResolvers<void>
  let watch: Parameters<typeof createMarketSteps>[0]
  let steps: MarketSteps

  beforeEach(() => {
    calls = []
    reading = Promise.withResolvers()
    const call = async (name: string): Promise<void> => {
      calls.push(name)
      if (calls.length === 1) await reading.promise
    }
    watch = {
      note: (blocks) => call(`applied ${blocks.map(({ block }) => block.number).join()}`),
      noteUndone: (head) => call(`undone to ${head?.number}`),
      noteGap: () => void call('gap'),
    }
    steps = createMarketSteps(watch)
  })

  it('takes a step at once', () => {
    steps.take(applied(8))
    assert.deepEqual(calls, ['applied 8'])
  })

  it('lets later steps wait while markets are read, and then takes those of one kind together', async () => {
    for (const step of [8, 9, 10].map(applied)) steps.take(step)
    for (const step of [9, 8].map(undone)) steps.take(step)
    steps.take(applied(9))
    steps.takeGap()
    steps.take(applied(12))
    assert.deepEqual(calls, ['applied 8'])
    reading.resolve()
    await steps.settled()
    assert.deepEqual(calls, ['applied 8', 'applied 9,10', 'undone to 8', 'applied 9', 'gap', 'applied 12'])
    steps.take(undone(11))
    assert.equal(calls.at(-1), 'undone to 11')
  })

  it('is behind until an own step comes that is held back by commits of other nodes', async () => {
    const held = Promise.withResolvers<boolean>()
    const own = createMarketSteps(watch, { written: () => 5, reached: async (number) => number < 5 || held.promise })
    const settled = own.settled().then(() => calls.push('settled'))
    await nextTurn()
    own.take(applied(8))
    held.resolve(true)
    await nextTurn()
    reading.resolve()
    await settled
    assert.deepEqual(calls, ['applied 8', 'settled'])
    const late = createMarketSteps(watch, { written: () => 5, reached: async () => false })
    await assert.rejects(late.settled(), StoreUnavailableError)
  })
  it('gives a new leader no markets before they have what others committed, and asks again where that fails', async () => {
    const answers = [false, true, true]
    const asked: PromiseWithResolvers<boolean>[] = []
    const commits = {
      settled: () => {
        asked.push(Promise.withResolvers())
        return asked.at(-1)!.promise
      },
    }
    let isAway = true
    const markets = marketsOfLeader(() => 'markets', commits, {
      settled: async () => {
        if (isAway) throw new StoreUnavailableError('away')
      },
    })
    for (const [at, answer] of answers.entries()) {
      assert.equal(markets(), undefined)
      assert.equal(markets(), undefined, 'one question at a time')
      assert.equal(asked.length, at + 1)
      isAway = at < 2
      asked[at]!.resolve(answer)
      await nextTurn()
    }
    assert.deepEqual([markets(), asked.length], ['markets', 3])
  })
})
