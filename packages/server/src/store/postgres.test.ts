import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import { installPostgres } from '../../../../scripts/installPostgres.ts'
import { parseAddress } from '@bezel/protocol'
import { startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import { startProxy, type TcpProxy } from '@bezel/testkit/startProxy.ts'
import { until } from '@bezel/testkit/until.ts'
import { StoreUnavailableError } from '../ground/unavailable.ts'
import { openPostgres } from './postgres.ts'
import type { Store } from './sql.ts'
import { pointRead } from './pointReads.ts'
import { describeStoreContract } from './testing/storeContract.ts'

const SETTINGS = { connections: 10, statementMs: 10_000, idleTransactionMs: 10_000 }

const TEXT_OF = pointRead('select text from t where n = $1', 'bigint')

let server: RunningPostgres
let count = 0
before(async () => {
  installPostgres()
  server = await startPostgres({ isDurable: true })
})
after(() => server.remove())

describeStoreContract('PostgreSQL', async () => {
  const url = await server.createDatabase(`contract_${++count}`)
  const opened = {
    store: openPostgres({ url, ...SETTINGS }),
    async reopen() {
      await opened.store.close()
      opened.store = openPostgres({ url, ...SETTINGS })
      return opened.store
    },
    remove: () => opened.store.close(),
  }
  return opened
})

describe('the store on PostgreSQL', () => {
  const ALICE = {
    chain: 'arbitrum-sepolia',
    trader: parseAddress('0x00000000000000000000000000000000000000a1')!,
  } as const
  const BOB = {
    chain: 'arbitrum-sepolia',
    trader: parseAddress('0x00000000000000000000000000000000000000b0')!,
  } as const
  let database: string
  let proxy: TcpProxy
  let store: Store
  /** Another process on the same database. */
  let other: Store

  beforeEach(async () => {
    database = `faults_${++count}`
    const url = await server.createDatabase(database)
    proxy = await startProxy(server.port)
    store = openPostgres({ ...SETTINGS, url: server.urlOf(database, proxy.port) })
    other = openPostgres({ ...SETTINGS, url })
    await store.transaction({ name: 'schema' }, (sql) =>
      sql.run('create table t (n bigint not null unique, text text)'),
    )
  })
  afterEach(async () => {
    await proxy.close()
    await store.close()
    await other.close()
  })

  const insert = (n: number, at: Store = store): Promise<number> =>
    at.transaction(ALICE, (sql) => sql.run('insert into t values ($1, $2)', n, 'a'))
  const numbers = async (): Promise<bigint[]> =>
    (await other.read.all<{ n: bigint }>('select n from t order by n')).map(({ n }) => n)
  const untilBack = (): Promise<unknown> =>
    until('the store is back', () =>
      store.transaction(ALICE, (sql) => sql.get('select 1 as one')).catch(() => undefined),
    )

  it('leaves traders alone between processes too', async () => {
    await insert(0)
    const increment = (at: Store): Promise<number> =>
      at.transaction(ALICE, async (sql) => {
        const row = await sql.get<{ n: bigint }>('select n from t')
        return sql.run('update t set n = $1', row!.n + 1n)
      })
    await Promise.all(Array.from({ length: 40 }, (_, at) => increment(at % 2 === 0 ? store : other)))
    assert.deepEqual(await numbers(), [40n])
  })

  it('reads what was committed before it got its lock, also by what is sent together with the lock', async () => {
    const held = Promise.withResolvers<void>()
    const may = Promise.withResolvers<void>()
    const first = other.transaction(ALICE, async (sql) => {
      sql.write('insert into t values ($1, $2)', 1n, 'a')
      await sql.get('select 1 as one')
      held.resolve()
      await may.promise
    })
    await held.promise
    const seen = store.transaction(ALICE, async (sql) => {
      const counted = sql.get<{ c: bigint }>('select count(*) as c from t')
      return [(await counted)!.c, (await sql.get<{ text: string }>(TEXT_OF, 1n))?.text]
    })
    const waiting = `select count(*) from pg_locks where locktype = 'advisory' and not granted`
    await until('the second waits for the lock', async () => (await server.psql(database, waiting)).trim() !== '0')
    may.resolve()
    await first
    assert.deepEqual(await seen, [1n, 'a'])
  })

  it('names the statement of a write that nobody waited for, and can use what failed with it', async () => {
    await insert(1)
    const fail = store.transaction(ALICE, async (sql) => {
      sql.write('insert into t values ($1, $2)', 1n, 'b')
      sql.write('update t set text = $1 where n = $2 and n > 0', 'c', 1n)
    })
    await assert.rejects(fail, /unique.*insert into t values/)
    for (let at = 0; at < SETTINGS.connections; at += 1) {
      await store.transaction(ALICE, async (sql) => sql.write('update t set text = $1 where n = $2 and n > 0', 'c', 1n))
    }
    assert.equal((await other.read.get<{ text: string }>(TEXT_OF, 1n))?.text, 'c')
  })

  it('holds up no trader because of another, and a block because of both', async () => {
    const seen: string[] = []
    const bothRun = Promise.withResolvers<void>()
    let running = 0
    const work = (name: string) => async (): Promise<void> => {
      if (++running === 2) bothRun.resolve()
      await bothRun.promise
      seen.push(name)
    }
    const block = (): Promise<void> =>
      store.transaction({ chain: 'arbitrum-sepolia' }, async () => void seen.push('block'))
    await Promise.all([
      store.transaction(ALICE, work('a')),
      other.transaction(BOB, work('b')),
      bothRun.promise.then(block),
    ])
    assert.equal(seen.at(-1), 'block')
    assert.equal(seen.length, 3)
  })

  it('runs the work again when the database ends it in favour of another', async () => {
    await insert(1)
    await insert(2)
    const bothHold = Promise.withResolvers<void>()
    let runs = 0
    const lock = (scope: typeof ALICE | typeof BOB, first: number, second: number, at: Store): Promise<void> =>
      at.transaction(scope, async (sql) => {
        await sql.run('update t set text = $1 where n = $2', 'b', first)
        if (++runs === 2) bothHold.resolve()
        await bothHold.promise
        await sql.run('update t set text = $1 where n = $2', 'c', second)
      })
    await Promise.all([lock(ALICE, 1, 2, store), lock(BOB, 2, 1, other)])
    assert.equal(runs, 3)
  })

  it('prepares a statement again whose table has got another shape', async () => {
    const all = (at: Pick<Store['read'], 'all'>): Promise<object[]> => at.all('select * from t')
    // More than one connection knows it.
    await Promise.all([all(store.read), all(store.read), store.transaction(ALICE, all), store.transaction(BOB, all)])
    await other.transaction({ name: 'schema' }, (sql) => sql.run('alter table t add column more text'))
    await Promise.all([insert(1), all(store.read), all(store.read)])
    const seen = await Promise.all([all(store.read), store.transaction(ALICE, all), store.transaction(BOB, all)])
    for (const row of seen.flat()) assert.deepEqual(row, { n: 1n, text: 'a', more: null })
  })

  it('says that it is unavailable when another process holds the trader for too long, whatever was asked', async () => {
    await insert(1)
    await other.transaction(ALICE, async (held) => {
      await held.get('select 1 as one')
      const reads = store.transaction(ALICE, (sql) =>
        Promise.all([sql.all('select n from t'), sql.get('select count(*) as c from t')]),
      )
      await assert.rejects(reads, StoreUnavailableError)
    })
  })

  it('refuses a statement that comes after its transaction, and keeps nothing of a failed one', async () => {
    let late: (() => Promise<number>) | undefined
    await store.transaction(ALICE, async (sql) => {
      late = () => sql.run('insert into t values ($1, $2)', 9, 'late')
    })
    await assert.rejects(late!(), /after the end of its transaction/)
    const swallowed = store.transaction(ALICE, async (sql) => {
      await sql.run('insert into t values ($1, $2)', 1, 'a')
      await sql.run('nonsense').catch(() => undefined)
    })
    await assert.rejects(swallowed, /nonsense/)
    assert.deepEqual(await numbers(), [])
  })

  for (const [name, fail, mend] of [
    ['hangs', () => proxy.hang(), () => proxy.resume()],
    ['cuts off and does not answer', () => (proxy.ignoreNew(), proxy.cut()), () => proxy.resume()],
    ['stops', () => server.stop(), () => server.start()],
    ['crashes', () => server.stop('immediate'), () => server.start()],
  ] as const) {
    it(`says it is unavailable when the server ${name}, and goes on when it is back`, async () => {
      await insert(1)
      await fail()
      await Promise.all([
        assert.rejects(insert(2), StoreUnavailableError),
        assert.rejects(insert(3), StoreUnavailableError),
        assert.rejects(store.read.get('select 1 as one'), StoreUnavailableError),
      ])
      await assert.rejects(insert(4), StoreUnavailableError)
      await mend()
      await untilBack()
      await insert(5)
      assert.deepEqual(await numbers(), [1n, 5n])
    })
  }

  it('gives the chain on when a block and a request behind it give up at the same moment', async () => {
    const block = (): Promise<unknown> =>
      store.transaction({ chain: ALICE.chain }, (sql) => sql.get('select 1 as one')).catch(() => undefined)
    await block()
    proxy.hang()
    await Promise.all([
      assert.rejects(insert(1), StoreUnavailableError),
      block(),
      assert.rejects(
        store.transaction(BOB, (sql) => sql.get('select 1 as one')),
        StoreUnavailableError,
      ),
    ])
    proxy.resume()
    await untilBack()
    let isThrough = false
    void block().then(() => (isThrough = true))
    await until('the next block has run', () => isThrough)
  })

  it('ends a session of which it never heard that it began, so that nobody waits for its locks', async () => {
    // So long that only the store itself can end the session.
    const idleTransactionMs = 3_600_000
    const cutOff = openPostgres({ ...SETTINGS, idleTransactionMs, url: server.urlOf(database, proxy.port) })
    await cutOff.transaction(ALICE, (sql) => sql.get('select 1 as one'))
    const lost = proxy.loseAnswer('begin isolation level')
    await assert.rejects(insert(1, cutOff), StoreUnavailableError)
    await lost
    await until('another process has the trader', () => insert(2, other).catch(() => undefined))
    await cutOff.transaction(ALICE, (sql) => sql.run('insert into t values ($1, $2)', 3, 'a'))
    assert.deepEqual(await numbers(), [2n, 3n])
    await cutOff.close()
  })

  it('tells of a commit whose answer was lost, before anybody else runs', async () => {
    const seen: string[] = []
    const lost = store.transaction(ALICE, async (sql) => {
      await sql.run('insert into t values ($1, $2)', 1, 'a')
      sql.afterCommit(() => seen.push('told'))
      // The commit that follows is on its way when the proxy cuts the connection.
      proxy.delayMs = 20
      setImmediate(() => {
        proxy.hang()
      })
    })
    await assert.rejects(lost, StoreUnavailableError)
    proxy.delayMs = 0
    const next = until('the next transaction', () =>
      store
        .transaction(ALICE, async (sql) => {
          const row = await sql.get<{ c: bigint }>('select count(*) as c from t')
          seen.push(`next sees ${row!.c}`)
          return true
        })
        .catch(() => false),
    )
    proxy.resume()
    await next
    const kept = (await numbers()).length
    assert.deepEqual(seen, kept === 1 ? ['told', 'next sees 1'] : ['next sees 0'])
  })
})
