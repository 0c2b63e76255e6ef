import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { StartupError } from '@bezel/protocol'
import { until } from '@bezel/testkit/until.ts'
import { StoreUnavailableError } from '../ground/unavailable.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { listLiveNodes, openNode, type OwnNode } from './nodeStore.ts'
import { migrate } from './openStore.ts'
import { recordStep } from './schemaSteps.ts'
import type { Store } from './sql.ts'
import { TEST_SCOPE } from './testing/testScope.ts'
import { openTestStore, type TestStore } from './testing/testStore.ts'

/** A sign of life that never comes again, and one that comes all the time. */
const NEVER_MS = 1_000_000
const ALWAYS_MS = 1

describe('the nodes of a store', () => {
  let opened: TestStore
  beforeEach(async () => {
    opened = openTestStore()
    await migrate(opened.store)
  })
  afterEach(() => opened.remove())

  const onError = (error: unknown): never => assert.fail(String(error))
  const enter = (version: string, signMs = NEVER_MS): Promise<OwnNode> =>
    openNode(opened.store, { version, onError, signMs })
  const live = (): Promise<string[]> =>
    listLiveNodes(opened.store.read).then((nodes) => nodes.map(({ version }) => version).toSorted())
  const silence = (id: string, ms: number): Promise<number> =>
    opened.store.transaction(TEST_SCOPE, (sql) =>
      sql.run('update nodes set seen_at = seen_at - $2, started_at = started_at - $2 where id = $1', id, ms),
    )
  const stored = async (): Promise<number> => (await opened.store.read.all('select id from nodes')).length

  it('are there from their start to their stop', async () => {
    const first = await enter('1.0.0')
    const second = await enter('1.0.1')
    assert.notEqual(first.id, second.id)
    const [node] = await listLiveNodes(opened.store.read)
    const { schema, roles, startedAtMs, silentMs } = node!
    assert.deepEqual([schema, roles], [MIGRATIONS.length, 'api,follower,relayer,keeper'])
    assert.ok(Number.isInteger(startedAtMs) && Number.isInteger(silentMs))
    assert.deepEqual(await live(), ['1.0.0', '1.0.1'])
    await first.close()
    assert.deepEqual(await live(), ['1.0.1'])
    await second.close()
    assert.equal(await stored(), 0)
  })

  it('count as gone after 10 s without a sign of life, and come back with the next one', async () => {
    const node = await enter('1.0.0')
    await silence(node.id, 1_000)
    assert.deepEqual(await live(), ['1.0.0'])
    await silence(node.id, 9_001)
    assert.deepEqual(await live(), [])
    await node.close()
    const busy = await enter('1.0.1', ALWAYS_MS)
    await silence(busy.id, 20_000)
    await until('it is seen again', async () => (await live()).includes('1.0.1'))
    const [row] = await opened.store.read.all<{ age: bigint }>('select seen_at - started_at as age from nodes')
    assert.ok(row!.age >= 10_000n, 'the start stays as it was')
    await busy.close()
  })

  it('are forgotten a day after their last sign of life, by those that live', async () => {
    const gone = await enter('1.0.0')
    const late = await enter('1.0.1')
    await silence(gone.id, 86_401_000)
    await silence(late.id, 86_300_000)
    const busy = await enter('1.0.2', ALWAYS_MS)
    await until('the first is gone', async () => (await stored()) === 2)
    await busy.close()
    assert.equal(await stored(), 1)
  })

  it('enter themselves again when their row was taken away', async () => {
    const busy = await enter('1.0.0', ALWAYS_MS)
    await opened.store.transaction(TEST_SCOPE, (sql) => sql.run('delete from nodes'))
    await until('it is there again', async () => (await live()).length === 1)
    await busy.close()
  })

  it('are refused when a newer one has taken away what they use, and only then', async () => {
    const newest = MIGRATIONS.length
    await opened.store.transaction(TEST_SCOPE, (sql) => recordStep(sql, newest + 1, 'expand'))
    await (await enter('1.0.0')).close()
    await opened.store.transaction(TEST_SCOPE, (sql) => recordStep(sql, newest + 2, 'contract'))
    await assert.rejects(enter('1.0.0'), (error: Error) => {
      assert.ok(error instanceof StartupError)
      assert.match(error.message, /newer Bezel/)
      return true
    })
    assert.equal(await stored(), 0)
  })

  it('stop also while the store is away', async () => {
    let isAway = false
    const store: Store = {
      ...opened.store,
      transaction: (scope, work) =>
        isAway ? Promise.reject(new StoreUnavailableError('away')) : opened.store.transaction(scope, work),
    }
    const node = await openNode(store, { version: '1.0.0', onError, signMs: ALWAYS_MS })
    isAway = true
    await node.close()
    assert.equal(await stored(), 1)
  })

  it('are not known to a store of before', async () => {
    const older = openTestStore()
    await migrate(older.store, MIGRATIONS.slice(0, 26))
    assert.deepEqual(await listLiveNodes(older.store.read), [])
    await older.remove()
  })
})
