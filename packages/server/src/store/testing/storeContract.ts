import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { parseAddress, type Address } from '@bezel/protocol'
import type { Scope } from '../scope.ts'
import { pointRead } from '../pointReads.ts'
import { insertInto, updateByKey } from '../rows.ts'
import type { Store, Transaction } from '../sql.ts'

/** A store that the contract is judged on. */
export interface ContractStore {
  readonly store: Store
  /** Closes the store and opens it again, as a restart does. */
  reopen(): Promise<Store>
  remove(): Promise<void>
}

const ALICE = addressOf('0x00000000000000000000000000000000000000a1')
const BOB = addressOf('0x00000000000000000000000000000000000000b0')
const CHAIN = 'arbitrum-sepolia'
const OF_ALICE: Scope = { chain: CHAIN, trader: ALICE }
const OF_BOB: Scope = { chain: CHAIN, trader: BOB }
const OF_CHAIN: Scope = { chain: CHAIN }

/** Tests what every engine promises of the port `Store`. */
export function describeStoreContract(engine: string, open: () => Promise<ContractStore>): void {
  describe(`the contract of the store on ${engine}: commits`, () => testCommits(contractWorld(open)))
  describe(`the contract of the store on ${engine}: writes without an answer`, () => testWrites(contractWorld(open)))
  describe(`the contract of the store on ${engine}: telling`, () => testTelling(contractWorld(open)))
  describe(`the contract of the store on ${engine}: scopes`, () => testScopes(contractWorld(open)))
}

/** The store of the test that runs, with a table `t`. */
interface ContractWorld {
  store(): Store
  reopen(): Promise<void>
  insert(scope: Scope, n: bigint, text?: string): Promise<number>
  /** Reads all numbers of the table. */
  numbers(): Promise<bigint[]>
}

function contractWorld(open: () => Promise<ContractStore>): ContractWorld {
  let opened: ContractStore
  let store: Store
  beforeEach(async () => {
    opened = await open()
    store = opened.store
    await store.transaction({ name: 'schema' }, (sql) =>
      sql.run('create table t (n bigint not null unique, text text)'),
    )
  })
  afterEach(() => opened.remove())
  return {
    store: () => store,
    async reopen() {
      store = await opened.reopen()
    },
    insert: (scope, n, text) =>
      store.transaction(scope, (sql) => sql.run('insert into t values ($1, $2)', n, text ?? null)),
    numbers: async () => (await store.read.all<{ n: bigint }>('select n from t order by n')).map(({ n }) => n),
  }
}

function testCommits(world: ContractWorld): void {
  it('keeps a whole transaction or nothing of it', async () => {
    await world.insert(OF_ALICE, 1n)
    const changedMind = world.store().transaction(OF_ALICE, async (sql) => {
      await sql.run('insert into t values ($1, $2)', 2n, 'b')
      throw new Error('changed my mind')
    })
    await assert.rejects(changedMind, /changed my mind/)
    const violation = world.store().transaction(OF_ALICE, async (sql) => {
      await sql.run('insert into t values ($1, $2)', 3n, 'c')
      await sql.run('insert into t values ($1, $2)', 1n, 'again')
    })
    await assert.rejects(violation, /unique/i)
    assert.deepEqual(await world.numbers(), [1n])
  })

  it('still has everything after it is opened again', async () => {
    await world.insert(OF_ALICE, 7n, 'x')
    await world.reopen()
    assert.deepEqual(await world.numbers(), [7n])
  })

  it('shows readers nothing of a transaction under way, and everything after it', async () => {
    await world.store().transaction(OF_ALICE, async (sql) => {
      await sql.run('insert into t values ($1, $2)', 1n, 'a')
      assert.deepEqual(await world.numbers(), [])
      assert.equal((await sql.get<{ c: bigint }>('select count(*) as c from t'))!.c, 1n)
    })
    assert.deepEqual(await world.numbers(), [1n])
  })

  it('gives whole numbers back exactly, sums, counts and comparisons too', async () => {
    const large = 2n ** 63n - 1n
    await world.insert(OF_ALICE, large)
    await world.insert(OF_ALICE, -5n)
    const row = await world
      .store()
      .read.get(`select max(n) as most, sum(n) as total, count(*) as c, min(n) < 0 as below, max(text) as text from t`)
    assert.deepEqual({ ...row! }, { most: large, total: large - 5n, c: 2n, below: 1n, text: null })
  })

  it('returns the number of changed rows', async () => {
    for (const n of [1n, 2n, 3n]) await world.insert(OF_ALICE, n)
    const changed = await world
      .store()
      .transaction(OF_ALICE, async (sql) => [
        await sql.run('update t set text = $1 where n >= $2', 'x', 2),
        await sql.run('delete from t where n = $1', 9),
      ])
    assert.deepEqual(changed, [2, 0])
  })

  it('sorts text by its bytes', async () => {
    for (const [at, text] of ['b', 'B', 'a', 'é', '_'].entries()) await world.insert(OF_ALICE, BigInt(at), text)
    const rows = await world.store().read.all<{ text: string }>('select text from t order by text')
    assert.deepEqual(
      rows.map(({ text }) => text),
      ['B', '_', 'a', 'b', 'é'],
    )
  })

  it('goes on after any number of failures', async () => {
    for (let at = 0; at < 30; at++)
      await assert.rejects(world.store().transaction(OF_ALICE, (sql) => sql.run('nonsense')))
    await assert.rejects(world.store().read.all('nonsense'))
    await world.insert(OF_ALICE, 1n)
    assert.deepEqual(await world.numbers(), [1n])
  })
}

const INSERT = insertInto('t', ['n', 'text'])
const RENAME = updateByKey('t', 'n', ['text'])
const TEXT_OF = pointRead('select text from t where n = $1', 'bigint')

function testWrites(world: ContractWorld): void {
  const texts = async (): Promise<(string | null)[]> =>
    (await world.store().read.all<{ text: string | null }>('select text from t order by n')).map(({ text }) => text)
  const textOf = async (sql: Transaction, n: bigint): Promise<string | null | undefined> =>
    (await sql.get<{ text: string | null }>(TEXT_OF, n))?.text

  it('are seen by every later statement, and by none before', async () => {
    await world.store().transaction(OF_ALICE, async (sql) => {
      sql.write(INSERT, 1n, 'a')
      const [first, none] = [textOf(sql, 1n), textOf(sql, 2n)]
      sql.write(RENAME, 1n, 'b')
      sql.write(INSERT, 2n, null)
      const counted = sql.get<{ c: bigint }>('select count(*) as c from t')
      const second = textOf(sql, 1n)
      sql.write('delete from t where n = $1', 1n)
      assert.deepEqual(await Promise.all([first, none, second, textOf(sql, 1n)]), ['a', undefined, 'b', undefined])
      assert.equal((await counted)!.c, 2n)
      assert.equal(await sql.run('update t set text = $1', 'c'), 1)
    })
    assert.deepEqual(await texts(), ['c'])
  })

  it('keep their order, with many rows and with one row more than once', async () => {
    const odd = 'a \u0001 " \\ \n é 😀 {x} null'
    await world.store().transaction(OF_ALICE, async (sql) => {
      for (let n = 0n; n < 2_000n; n++) sql.write(INSERT, n, n === 7n ? odd : null)
      for (let n = 0n; n < 2_000n; n++) sql.write(RENAME, n, n === 7n ? odd : `${n}`)
      sql.write(RENAME, 5n, 'first')
      sql.write(RENAME, 5n, 'second')
      sql.write('delete from t where n = $1', 6n)
      sql.write(INSERT, 6n, 'again')
      sql.write(INSERT, 2n ** 62n, 'large')
    })
    const stored = await texts()
    assert.deepEqual(stored.slice(4, 9), ['4', 'second', 'again', odd, '8'])
    assert.deepEqual([stored.length, stored.at(-1)], [2_001, 'large'])
  })

  it('are read by many keys at once, each with its own rows', async () => {
    for (const n of [1n, 2n, 2n ** 62n]) await world.insert(OF_ALICE, n, `text ${n}`)
    const keys = [2n, 9n, 2n ** 62n, 1n, 2n]
    const read = (sql: Transaction): Promise<(string | null | undefined)[]> =>
      Promise.all(keys.map((key) => textOf(sql, key)))
    const expected = ['text 2', undefined, `text ${2n ** 62n}`, 'text 1', 'text 2']
    assert.deepEqual(await world.store().transaction(OF_ALICE, read), expected)
  })

  it('that fail undo everything, and tell which statement failed; the next transaction is as any', async () => {
    await world.insert(OF_ALICE, 1n)
    const fail = (...rows: bigint[]): Promise<void> =>
      world.store().transaction(OF_ALICE, async (sql) => {
        sql.write(RENAME, 1n, 'changed')
        for (const n of rows) sql.write(INSERT, n, null)
        sql.write('update t set text = $1 where n < $2', 'never', 0)
      })
    await assert.rejects(fail(1n), /unique/i)
    await assert.rejects(fail(2n, 3n, 1n), /unique/i)
    assert.deepEqual(await world.numbers(), [1n])
    await fail(4n, 5n)
    assert.deepEqual(await world.numbers(), [1n, 4n, 5n])
    assert.deepEqual(await texts(), ['changed', null, null])
  })

  it('are not there when the work changes its mind', async () => {
    const changedMind = world.store().transaction(OF_ALICE, async (sql) => {
      sql.write(INSERT, 1n, null)
      throw new Error('changed my mind')
    })
    await assert.rejects(changedMind, /changed my mind/)
    assert.deepEqual(await world.numbers(), [])
  })
}

function testTelling(world: ContractWorld): void {
  it('tells of a commit, in the order of the commits, and of nothing that is rolled back', async () => {
    const seen: string[] = []
    const work = (name: string, scope: Scope, fails = false): Promise<void> =>
      world.store().transaction(scope, async (sql) => {
        await sql.get('select count(*) as c from t')
        seen.push(`${name} reads`)
        sql.afterCommit(() => seen.push(`${name} is told`))
        if (fails) throw new Error('changed my mind')
      })
    await Promise.allSettled([work('a', OF_ALICE), work('b', OF_ALICE, true), work('c', OF_ALICE)])
    await Promise.allSettled([work('d', OF_CHAIN), work('e', OF_BOB)])
    assert.deepEqual(seen.slice(0, 5), ['a reads', 'a is told', 'b reads', 'c reads', 'c is told'])
    assert.deepEqual(seen.slice(5), ['d reads', 'd is told', 'e reads', 'e is told'])
  })

  it('tells everybody of a commit, and keeps it, when one who is told throws', async () => {
    const thrown: unknown[] = []
    process.setUncaughtExceptionCaptureCallback((error) => thrown.push(error))
    try {
      let isTold = false
      const result = await world.store().transaction(OF_ALICE, async (sql) => {
        sql.afterCommit(() => {
          throw new Error('a bug')
        })
        sql.afterCommit(() => {
          isTold = true
        })
        return sql.run('insert into t values ($1, $2)', 1n, 'a')
      })
      assert.deepEqual([result, await world.numbers(), isTold], [1, [1n], true])
      await new Promise((resolve) => setImmediate(resolve))
      assert.deepEqual(thrown.map(String), ['Error: a bug'])
    } finally {
      process.setUncaughtExceptionCaptureCallback(null)
    }
  })
}

function testScopes(world: ContractWorld): void {
  const increment = (scope: Scope): Promise<number> =>
    world.store().transaction(scope, async (sql) => {
      const row = await sql.get<{ n: bigint }>('select n from t where text = $1', 'sum')
      return sql.run('update t set n = $1 where text = $2', row!.n + 1n, 'sum')
    })

  it('leaves a transaction alone with its trader', async () => {
    await world.insert(OF_ALICE, 0n, 'sum')
    await Promise.all(Array.from({ length: 40 }, () => increment(OF_ALICE)))
    assert.deepEqual(await world.numbers(), [40n])
  })

  it('leaves a block alone on its chain', async () => {
    await world.insert(OF_ALICE, 0n, 'sum')
    await Promise.all(Array.from({ length: 40 }, (_, at) => increment(at % 2 === 0 ? OF_CHAIN : OF_ALICE)))
    assert.deepEqual(await world.numbers(), [40n])
  })

  it('leaves a transaction alone with its name', async () => {
    await world.insert(OF_ALICE, 0n, 'sum')
    await Promise.all(Array.from({ length: 40 }, () => increment({ name: 'notices' })))
    assert.deepEqual(await world.numbers(), [40n])
  })
}

function addressOf(text: string): Address {
  return parseAddress(text)!
}
