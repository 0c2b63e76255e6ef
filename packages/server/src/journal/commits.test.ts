import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { ApiError, parseAddress, type Address, type ChainSlug, type OrderId } from '@bezel/protocol'
import { createSeededRandom } from '@bezel/testkit/seededRandom.ts'
import { startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import { PATIENCE_MS } from '@bezel/testkit/until.ts'
import { installPostgres } from '../../../../scripts/installPostgres.ts'
import { StoreUnavailableError } from '../ground/unavailable.ts'
import { forgetCommits, readCommitNumbers } from '../store/commitStore.ts'
import { migrate } from '../store/openStore.ts'
import { openPostgres } from '../store/postgres.ts'
import { fromExactJson, type Store } from '../store/sql.ts'
import { openTestStore, type TestStore } from '../store/testing/testStore.ts'
import type { AgentRecord } from '../trading/agentRecord.ts'
import { createAccountLog, type AccountLog } from './accountLog.ts'
import { bodyOf, type Commit, type CommitNews } from './commitBody.ts'
import { createCommits, settleFresh, type Commits } from './commits.ts'

const CHAIN = 'arbitrum' satisfies ChainSlug
const OTHER = 'base' satisfies ChainSlug
const TRADER = parseAddress(`0x${'a1'.repeat(20)}`)!

/** A node: its own store on the shared data, and what it has applied. */
interface Node {
  readonly store: Store
  readonly commits: Commits
  readonly woken: string[]
  readonly reloads: string[]
  readonly errors: string[]
}

let opened: TestStore
let nodes: Node[]

/** Opens a node. Commits name in `woken` what the test calls them. */
async function openNode(store: Store): Promise<Node> {
  const node: Node = { store, commits: undefined as never, woken: [], reloads: [], errors: [] }
  // A database that takes too long is asked again.
  const onError = (error: unknown): void =>
    void (error instanceof StoreUnavailableError || node.errors.push(String(error)))
  const commits = createCommits(store, { onError })
  const opening: Node = { ...node, commits }
  const chain = commits.of(CHAIN)
  const from = await chain.readNumber()
  chain.follow({
    apply: ({ woken }: Commit) => void node.woken.push(...woken),
    reload: async () => void node.reloads.push('reload'),
  })
  chain.begin(from)
  nodes.push(opening)
  return opening
}

const commit = (node: Node, name: string, chain: ChainSlug = CHAIN): Promise<void> =>
  node.store.transaction({ chain, trader: TRADER }, async (sql) =>
    node.commits.of(chain).note(sql, 1_000, { woken: [name as Address] }),
  )

/** Looks for commits until the node has applied `number`. */
async function catchUp({ commits }: Node, number: number): Promise<void> {
  commits.start()
  assert.ok(await commits.of(CHAIN).reached(number, PATIENCE_MS), `commit ${number} was not applied`)
}

before(async () => {
  opened = openTestStore()
  await migrate(opened.store)
})
after(() => opened.remove())
beforeEach(async () => {
  nodes = []
  await opened.store.transaction({ name: 'schema' }, async (sql) => {
    await sql.run('delete from commits')
    await sql.run('delete from chain_times')
  })
})
afterEach(async () => {
  for (const { commits, store } of nodes) {
    await commits.close()
    if (store !== opened.store) await store.close()
  }
})

describe('The commits of a chain', () => {
  it('are numbered without a gap, each chain by itself, and what is rolled back takes no number', async () => {
    const node = await openNode(opened.store)
    await commit(node, 'a')
    await assert.rejects(
      node.store.transaction({ chain: CHAIN }, async (sql) => {
        node.commits.of(CHAIN).note(sql, 1_000, { woken: [] })
        throw new Error('no')
      }),
    )
    await commit(node, 'b')
    await commit(node, 'x', OTHER)
    assert.deepEqual(
      await readCommitNumbers(node.store.read),
      new Map([
        [CHAIN, 2],
        [OTHER, 1],
      ]),
    )
    assert.deepEqual(node.woken, ['a', 'b'])
    assert.equal(node.commits.of(CHAIN).applied(), 2)
    assert.equal(node.commits.of(CHAIN).written(), 2)
  })

  it('are applied before the transaction resolves, where they are own', async () => {
    const node = await openNode(opened.store)
    for (const name of ['a', 'b', 'c']) {
      await commit(node, name)
      assert.equal(node.woken.at(-1), name)
    }
  })

  it('keep text that looks like a number', () => {
    const record = { name: '12n', label: "'12n", cap: 12n } as unknown as AgentRecord
    const body = bodyOf(1, { rights: [{ kind: 'agent', record }] })
    assert.deepEqual(fromExactJson<CommitNews>(body).rights, [{ kind: 'agent', record }])
  })
})

describe('The commits of several nodes', () => {
  let server: RunningPostgres
  let sqlite: TestStore

  before(async () => {
    installPostgres()
    server = await startPostgres()
    const url = await server.createDatabase('commits')
    const open = (): Store => openPostgres({ url, connections: 6, statementMs: 60_000, idleTransactionMs: 60_000 })
    sqlite = opened
    opened = { ...sqlite, store: open(), openBeside: open }
    await migrate(opened.store)
  })
  after(async () => {
    await opened.store.close()
    await server.remove()
    opened = sqlite
  })

  const openTwo = async (): Promise<readonly [Node, Node]> => [
    await openNode(opened.openBeside()),
    await openNode(opened.openBeside()),
  ]

  it('are applied by each in the same order, whoever made them', async () => {
    const [a, b] = await openTwo()
    const random = createSeededRandom(7)
    const names = Array.from({ length: 60 }, (_, at) => `c${at}`)
    b.commits.start()
    a.commits.start()
    await Promise.all(
      names.map(async (name) => {
        for (let turns = random.below(6); turns > 0; turns -= 1) await nextTurn()
        await commit(random.chance(0.5) ? a : b, name)
      }),
    )
    await catchUp(a, names.length)
    await catchUp(b, names.length)
    assert.deepEqual(a.woken, b.woken)
    assert.deepEqual(a.woken.toSorted(), names.toSorted())
    assert.deepEqual([...a.errors, ...b.errors], [])
  })

  it('go on from the number of the start', async () => {
    const a = await openNode(opened.openBeside())
    await commit(a, 'before')
    const b = await openNode(opened.openBeside())
    await commit(a, 'after')
    await catchUp(b, 2)
    assert.deepEqual(b.woken, ['after'])
  })

  for (const [damage, statement] of [
    ['is missing', 'delete from commits where number = 2'],
    ['has a body that no program reads', "update commits set body = '{' where number = 2"],
    ['has a body of another version', `update commits set body = '{"version":9}' where number = 2`],
  ] as const) {
    it(`are read again as a whole when one ${damage}`, async () => {
      const [a, b] = await openTwo()
      for (const name of ['one', 'two', 'three']) await commit(a, name)
      await opened.store.transaction({ name: 'schema' }, (sql) => sql.run(statement))
      await catchUp(b, 3)
      assert.deepEqual(b.reloads, ['reload'])
      assert.equal(b.errors.length, 1)
      assert.equal(b.commits.of(CHAIN).isReloading(), false)
      await commit(a, 'four')
      await catchUp(b, 4)
      assert.equal(b.woken.at(-1), 'four')
    })
  }

  it('go on beside a row of the future, which nobody takes for the commit that comes', async () => {
    const [a, b] = await openTwo()
    const future = bodyOf(1_000, { woken: ['never' as Address] })
    await commit(a, 'one')
    await opened.store.transaction({ name: 'schema' }, (sql) =>
      sql.run('insert into commits (chain, number, committed_at, body) values ($1, 2, 0, $2)', CHAIN, future),
    )
    await catchUp(b, 1)
    await commit(a, 'two')
    await catchUp(b, 2)
    assert.deepEqual(b.woken, ['one', 'two'])
    assert.deepEqual([b.reloads, b.errors], [[], []])
  })

  it('are all applied before a log tells positions, of which none may be missing', async () => {
    const told: string[] = []
    const [old, next] = (await openTwo()).map((node) => {
      const commits = node.commits.of(CHAIN)
      const open = new Set<string>()
      commits.follow({
        apply: ({ changes }) => changes?.positions.forEach(({ record }) => open.add(record.id)),
        reload: async () => undefined,
      })
      return createAccountLog({
        chain: CHAIN,
        store: node.store,
        commits,
        positionsText(_trader, changes) {
          told.push([...open, ...changes.map(({ record }) => record.id)].join())
          return '[]'
        },
        alsoKeep: async () => undefined,
        now: Date.now,
        onError: assert.fail as never,
      })
    })
    const change = (log: AccountLog, id: string): Promise<void> =>
      log.transaction({ chain: CHAIN }, { block: 1, isReorg: false }, async (_sql, journal) => {
        const record = { id: id as OrderId, chain: CHAIN, trader: TRADER, originOrderId: id as OrderId } as const
        journal.position({ record, before: undefined, after: undefined })
      })
    await change(old!, '1')
    await change(next!, '2')
    assert.deepEqual(told, ['1', '1,2'])
  })

  it('are read again as a whole when the database was put back', async () => {
    const [a, b] = await openTwo()
    for (const name of ['one', 'two']) await commit(a, name)
    await catchUp(b, 2)
    await opened.store.transaction({ name: 'schema' }, async (sql) => {
      await sql.run('delete from commits where number > 1')
      await sql.run('update chain_times set commits = 1')
    })
    while (b.reloads.length === 0) await nextTurn()
    assert.equal(b.commits.of(CHAIN).applied(), 1)
  })

  it('answer nothing private while they are read again', async () => {
    const [a, b] = await openTwo()
    await commit(a, 'one')
    await catchUp(b, 1)
    const chain = b.commits.of(CHAIN)
    const reading = Promise.withResolvers<void>()
    chain.follow({ apply: () => undefined, reload: () => reading.promise })
    const log = createAccountLog({
      chain: CHAIN,
      store: b.store,
      commits: chain,
      positionsText: () => '[]',
      alsoKeep: async () => undefined,
      now: Date.now,
      onError: assert.fail as never,
    })
    await Promise.all([log.settled(), settleFresh(chain)])
    await opened.store.transaction({ name: 'schema' }, async (sql) => {
      await sql.run('delete from commits')
      await sql.run('update chain_times set commits = 0')
    })
    while (!chain.isReloading()) await nextTurn()
    const asked = await Promise.allSettled([log.settled(), settleFresh(chain)])
    reading.resolve()
    for (const outcome of asked) {
      assert.ok(outcome.status === 'rejected' && outcome.reason instanceof ApiError)
      assert.equal(outcome.reason.details?.['reason'], 'store_lagging')
    }
    while (chain.isReloading()) await nextTurn()
    await Promise.all([log.settled(), settleFresh(chain)])
  })

  it('are known to be all that there are by each look that is answered', async () => {
    const [, b] = await openTwo()
    const chain = b.commits.of(CHAIN)
    const begunMs = performance.now()
    assert.ok(chain.ageMs() >= performance.now() - begunMs)
    b.commits.start()
    while (chain.ageMs() >= performance.now() - begunMs) await nextTurn()
  })

  it('are looked for once more when a node is woken during a look', async () => {
    const beside = opened.openBeside()
    const looks: (() => void)[] = []
    /** Reads that are answered when the test says so, within the same turn. */
    const all = () => new Promise<never[]>((resolve) => looks.push(() => resolve([])))
    const commits = createCommits({ ...beside, read: { ...beside.read, all } })
    nodes.push({ store: beside, commits, woken: [], reloads: [], errors: [] })
    commits.start()
    commits.wake()
    commits.wake()
    assert.equal(looks.length, 1)
    looks[0]!()
    await nextTurn()
    assert.equal(looks.length, 2)
    looks[1]!()
    await nextTurn()
    assert.equal(looks.length, 2)
  })

  it('are forgotten by age', async () => {
    const [a] = await openTwo()
    await commit(a, 'old')
    assert.equal(await opened.store.transaction({ name: 'cleanup' }, (sql) => forgetCommits(sql, 2_000, 10)), 1)
  })
})
