import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, describe, it } from 'node:test'
import fc from 'fast-check'
import { DatabaseError } from 'pg'
import { startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import { until } from '@bezel/testkit/until.ts'
import { installPostgres } from '../../../../scripts/installPostgres.ts'
import type { Every } from '../ground/every.ts'
import { LeaseLostError, StoreUnavailableError } from '../ground/unavailable.ts'
import { acquireLease, renewLease, type LeaseName } from '../store/leaseStore.ts'
import { migrate } from '../store/openStore.ts'
import { openPostgres } from '../store/postgres.ts'
import type { Store, Transaction } from '../store/sql.ts'
import { fenced, openLease, type Lease, type LeaseRounds } from './leases.ts'

/** Times far above those after which the test of a transaction without a sign of life gives up. */
const SETTINGS = { connections: 30, statementMs: 600_000, idleTransactionMs: 600_000 }
const KEEPER: LeaseName = { role: 'keeper', chain: 'arbitrum-sepolia' }
const SCOPE = { name: 'lease test' } as const
const WORK = { chain: 'arbitrum-sepolia' } as const
const QUIET = { info: () => undefined, warn: () => undefined, error: () => undefined }

let server: RunningPostgres
let count = 0
before(async () => {
  installPostgres()
  server = await startPostgres()
})
after(() => server.remove())

let database: string
/** The stores of two nodes. */
let stores: readonly [Store, Store]
let trips: number[] = []

beforeEach(async () => {
  database = `leases_${++count}`
  const url = await server.createDatabase(database)
  const watch = { onCommit: (made: number) => void trips.push(made) }
  stores = [openPostgres({ ...SETTINGS, url }, watch), openPostgres({ ...SETTINGS, url })]
  await migrate(stores[0])
  await server.psql(database, 'create table effects (id bigserial, token bigint not null)')
  trips = []
})
afterEach(async () => {
  await Promise.all(stores.map((store) => store.close()))
})

const acquire = (store: Store, holder: string): Promise<bigint | undefined> =>
  store.transaction(SCOPE, (sql) => acquireLease(sql, KEEPER, holder))
const expire = (): Promise<number> => stores[0].transaction(SCOPE, (sql) => sql.run('update leases set renewed_at = 0'))
const effects = async (): Promise<string[]> =>
  (await stores[0].read.all<{ token: bigint }>('select token from effects order by id')).map(({ token }) => `${token}`)

/** Returns the lease of a node that believes in it for ever, as one does that was stopped before it could look. */
function blindLease(holder: string, token: bigint): Lease {
  return { ...KEEPER, holder, token, isHeld: () => true, noteLost: () => undefined }
}

/** Writes an effect as the leader with this token, alone with nothing but the lease. */
function write(store: Store, lease: Lease, pause: () => Promise<void> = async () => undefined): Promise<void> {
  writes += 1
  return fenced(store, lease).transaction({ name: `lease write ${writes}` }, async (sql) => {
    await sql.get('select 1 as one')
    await pause()
    sql.write('insert into effects (token) values ($1)', lease.token)
  })
}

let writes = 0

/** Starts a write that has begun and waits. Returns what lets it go on, and its end. */
async function writeSlowly(store: Store, lease: Lease) {
  const begun = Promise.withResolvers<void>()
  const may = Promise.withResolvers<void>()
  const ended = write(store, lease, () => {
    begun.resolve()
    return may.promise
  })
  ended.catch(() => undefined)
  await Promise.race([begun.promise, ended.catch(() => undefined)])
  return { goOn: () => may.resolve(), ended }
}

/**
 * Waits until a statement waits for a row, as the takeover of a lease does, or `isOver`. Asks on a connection that is
 * open: who waits is refused after a second.
 */
const untilRowIsAwaited = (isOver = (): boolean => false): Promise<boolean> =>
  until('somebody waits for a row', async () => {
    const waiting = await stores[0].read.all(
      `select 1 as one from pg_stat_activity where datname = $1 and wait_event_type = 'Lock'`,
      database,
    )
    return isOver() || waiting.length > 0
  })

describe('a fenced transaction', () => {
  it('is refused once another node leads, and was kept before', async () => {
    const old = blindLease('a', (await acquire(stores[0], 'a'))!)
    await write(stores[0], old)
    await expire()
    const next = blindLease('b', (await acquire(stores[1], 'b'))!)
    await assert.rejects(write(stores[0], old), LeaseLostError)
    await write(stores[1], next)
    assert.deepEqual(await effects(), ['1', '2'])
  })

  it('of two nodes that start at once is one that leads', async () => {
    const tokens = await Promise.all([acquire(stores[0], 'a'), acquire(stores[1], 'b')])
    assert.deepEqual(
      tokens.filter((token) => token !== undefined),
      [1n],
    )
  })

  it('that has begun is committed before another node leads', async () => {
    const old = blindLease('a', (await acquire(stores[0], 'a'))!)
    const slow = await writeSlowly(stores[0], old)
    await expire()
    const taken = until('another node leads', () => acquire(stores[1], 'b').catch(requireRefused))
    await untilRowIsAwaited()
    slow.goOn()
    await slow.ended
    const next = blindLease('b', await taken)
    assert.deepEqual(await effects(), ['1'])
    await write(stores[1], next)
    await assert.rejects(write(stores[0], old), LeaseLostError)
    assert.deepEqual(await effects(), ['1', '2'])
  })

  it('does not keep its own node from renewing the lease', async () => {
    const old = blindLease('a', (await acquire(stores[0], 'a'))!)
    const slow = await writeSlowly(stores[0], old)
    const renewed = stores[0].transaction(SCOPE, (sql) => renewLease(sql, old)).finally(slow.goOn)
    assert.equal(await renewed, true)
    await slow.ended
  })

  it('in which nothing happens any more is ended by the server, so that another node can lead', async () => {
    const old = blindLease('a', (await acquire(stores[0], 'a'))!)
    const slow = await writeSlowly(stores[0], old)
    await expire()
    const token = await until('another node leads', () => acquire(stores[1], 'b').catch(() => undefined))
    assert.equal(token, 2n)
    slow.goOn()
    await assert.rejects(slow.ended)
    assert.deepEqual(await effects(), [])
  })

  it('fails with the lease and not with what the next leader changed', async () => {
    const old = blindLease('a', (await acquire(stores[0], 'a'))!)
    await expire()
    await acquire(stores[1], 'b')
    const failing = fenced(stores[0], old).transaction(WORK, async (sql) => {
      await sql.get('select 1 as one')
      throw new Error('the cursor is elsewhere')
    })
    await assert.rejects(failing, LeaseLostError)
  })

  it('takes no more round trips than any other', async () => {
    const lease = blindLease('a', (await acquire(stores[0], 'a'))!)
    const insert = async (sql: Transaction): Promise<void> =>
      sql.write('insert into effects (token) values ($1)', lease.token)
    const readAndInsert = async (sql: Transaction): Promise<void> => {
      await sql.get('select 1 as one')
      return insert(sql)
    }
    trips = []
    for (const work of [insert, readAndInsert]) {
      await stores[0].transaction(WORK, work)
      await fenced(stores[0], lease).transaction(WORK, work)
    }
    const [plain, guarded, plainRead, guardedRead] = trips
    assert.deepEqual([guarded, guardedRead], [plain, plainRead])
  })
})

/** Rounds that a test runs by itself. */
function manualRounds() {
  const works: (() => void | Promise<void>)[] = []
  const every: Every = (_intervalMs, work) => {
    works.push(work)
    return { close: async () => undefined }
  }
  return {
    every,
    renew: async () => works[0]!(),
    look: async () => works[1]!(),
  }
}

/** A node that leads by rounds of the test, and counts its terms. */
function openNode(store: Store, holder: string) {
  const rounds = manualRounds()
  const clock = { ms: 0 }
  const fitness = { mayLead: true }
  const terms: { readonly lease: Lease; isEnded: boolean }[] = []
  const opened: LeaseRounds = openLease({
    store,
    name: KEEPER,
    holder,
    log: QUIET,
    monotonicMs: () => clock.ms,
    every: rounds.every,
    mayLead: () => fitness.mayLead,
    lead(lease, open) {
      const term = { lease, isEnded: false }
      terms.push(term)
      open.defer(() => void (term.isEnded = true))
    },
  })
  const current = (): Lease | undefined => terms.findLast(({ isEnded }) => !isEnded)?.lease
  return { ...rounds, ...opened, clock, fitness, terms, current }
}

describe('the rounds of a lease', () => {
  it('lead at once when it is free, and wait while another node has it', async () => {
    const [a, b] = [openNode(stores[0], 'a'), openNode(stores[1], 'b')]
    await Promise.all([a.tried, b.tried])
    await Promise.all([a.renew(), b.renew()])
    assert.equal(a.terms.length + b.terms.length, 1)
    await Promise.all([a.close(), b.close()])
  })

  it('release it at a stop, after the work has ended, so that the next try of another node gets it', async () => {
    const a = openNode(stores[0], 'a')
    await a.tried
    const b = openNode(stores[1], 'b')
    await b.tried
    assert.deepEqual([a.terms.length, b.terms.length], [1, 0])
    await a.close()
    assert.equal(a.terms[0]!.isEnded, true)
    await b.renew()
    assert.deepEqual([b.terms.length, b.current()?.token], [1, 2n])
    await b.close()
  })

  it('see after a stop of ten seconds that it is lost, write nothing, and lead again with a new token', async () => {
    const a = openNode(stores[0], 'a')
    await a.tried
    await write(stores[0], a.current()!)
    const former = a.current()!
    a.clock.ms += 10_000
    await assert.rejects(write(stores[0], former), LeaseLostError)
    await a.look()
    await until('the work has ended', () => a.terms[0]!.isEnded)
    await a.renew()
    await write(stores[0], a.current()!)
    await assert.rejects(write(stores[0], former), LeaseLostError)
    assert.deepEqual(await effects(), ['1', '2'])
    await a.close()
  })

  it('write nothing and leave it while the node may not lead', async () => {
    const a = openNode(stores[0], 'a')
    await a.tried
    const former = a.current()!
    a.fitness.mayLead = false
    await assert.rejects(write(stores[0], former), LeaseLostError)
    await a.look()
    await until('the work has ended', () => a.terms[0]!.isEnded)
    await a.renew()
    assert.equal(a.current(), undefined)
    a.fitness.mayLead = true
    await a.renew()
    assert.equal(a.current()?.token, 2n)
    await assert.rejects(write(stores[0], former), LeaseLostError)
    await a.close()
  })

  it('keep it by renewals alone', async () => {
    const a = openNode(stores[0], 'a')
    await a.tried
    for (let second = 1; second <= 5; second++) {
      a.clock.ms += 1_000
      await a.renew()
      await a.look()
    }
    assert.deepEqual(
      a.terms.map(({ isEnded }) => isEnded),
      [false],
    )
    a.clock.ms += 2_499
    await a.look()
    assert.equal(a.current()?.token, 1n)
    a.clock.ms += 1
    await a.look()
    assert.equal(a.current(), undefined)
    await a.close()
  })

  it('end the work when the row is edited by hand, which the next transaction finds', async () => {
    const a = openNode(stores[0], 'a')
    await a.tried
    const former = a.current()!
    await server.psql(database, 'update leases set token = 40')
    await assert.rejects(write(stores[0], former), LeaseLostError)
    await until('the work has ended', () => a.terms[0]!.isEnded)
    await a.renew()
    assert.equal(a.current()?.token, 41n)
    await server.psql(database, `update leases set holder = 'somebody'`)
    await a.renew()
    await until('the work has ended', () => a.terms[1]!.isEnded)
    await a.renew()
    assert.equal(a.current(), undefined)
    await a.close()
    assert.deepEqual(await effects(), [])
  })

  it('write nothing more of a round in the middle of which it was lost', async () => {
    const a = openNode(stores[0], 'a')
    await a.tried
    const store = fenced(stores[0], a.current()!)
    const round = async (): Promise<void> => {
      for (let step = 1; step <= 4; step++) {
        if (step === 3) await server.psql(database, 'update leases set token = token + 1')
        await store.transaction(WORK, (sql) => sql.run('insert into effects (token) values ($1)', step))
      }
    }
    await assert.rejects(round(), LeaseLostError)
    assert.deepEqual(await effects(), ['1', '2'])
    await a.close()
  })
})

/** Something that happens to two nodes, one of which may believe that it leads though it does not. */
const STEPS = fc.array(
  fc.record({
    what: fc.constantFrom('take', 'expire', 'expire', 'write', 'write', 'write slowly', 'go on'),
    node: fc.constantFrom(0, 1),
  }),
  { minLength: 20, maxLength: 40 },
)

describe('the tokens of what was written', () => {
  it('never decrease, whoever pauses where', async () => {
    let written = 0
    await fc.assert(
      fc.asyncProperty(STEPS, async (steps) => {
        await stores[0].transaction(SCOPE, (sql) => sql.run('truncate effects, leases'))
        await runSteps(steps)
        const tokens = (await effects()).map(Number)
        written += tokens.length
        assert.deepEqual(
          tokens,
          tokens.toSorted((one, other) => one - other),
        )
      }),
      { numRuns: 60 },
    )
    assert.ok(written > 60, `${written} effects`)
  })
})

async function runSteps(steps: readonly { readonly what: string; readonly node: number }[]): Promise<void> {
  const leases: (Lease | undefined)[] = [undefined, undefined]
  const pending: Promise<unknown>[] = []
  const paused: (() => void)[] = []

  async function take(node: number): Promise<void> {
    let isTaken = false
    const taken = acquire(stores[node]!, `node ${node}`)
      .catch(requireRefused)
      .finally(() => (isTaken = true))
    // What is under way goes on only when the takeover waits for it.
    if (paused.length > 0) await untilRowIsAwaited(() => isTaken)
    if (!isTaken) for (const goOn of paused.splice(0)) goOn()
    const token = await taken
    if (token !== undefined) leases[node] = blindLease(`node ${node}`, token)
  }

  for (const { what, node } of steps) {
    const [store, lease] = [stores[node]!, leases[node]]
    if (what === 'take') await take(node)
    if (what === 'expire') await expire()
    if (what === 'go on') paused.shift()?.()
    if (what === 'write' && lease !== undefined) await write(store, lease).catch(requireRefused)
    if (what === 'write slowly' && lease !== undefined) {
      const slow = await writeSlowly(store, lease)
      paused.push(slow.goOn)
      pending.push(slow.ended.catch(requireRefused))
    }
  }
  for (const goOn of paused) goOn()
  await Promise.all(pending)
}

/** Throws any error but those of a lease that another has or keeps for too long, and of what the server ended. */
function requireRefused(error: unknown): undefined {
  if (error instanceof StoreUnavailableError || error instanceof DatabaseError) return undefined
  throw error
}
