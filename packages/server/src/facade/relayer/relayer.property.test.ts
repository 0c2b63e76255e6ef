import { NodeUnavailableError } from '../../ground/unavailable.ts'
import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import type { RpcOutcome } from '../../chain/rpcClient.ts'
import type { Sql, Store } from '../../store/sql.ts'
import { RelayRefusedError } from './gasBudget.ts'
import { ACTION_SELECTOR } from './relayerKey.ts'
import type { SentTransaction } from './testing/fakeRelayNode.ts'
import {
  attemptOf,
  CHAIN,
  openRelayWorld,
  OTHER_TRADER,
  START_MS,
  testKey,
  TRADER,
  type RelayWorld,
} from './testing/relayWorld.ts'
import { TEST_SCOPE } from '../../store/testing/testScope.ts'

// A relayer goes through node faults, reorganisations, foreign uses of its key, and the end of its process between any
// two steps. The invariants: each attempt is mined at most once, each one with enough time is mined in the end, the
// nonces have no hole, and only the two allowed shapes are ever signed.

const RUNS = Number(process.env.RELAY_RUNS ?? 40)

const OPERATIONS = 150

const FAR_MS = 10 ** 12

class CrashError extends Error {}

/** Creates a pseudo-random generator of numbers in [0, 1) from a seed. */
function createRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The number of store and node calls left before the process ends; later ones have no effect. */
interface Fuse {
  left: number
}

function burn(fuse: Fuse): void {
  fuse.left -= 1
  if (fuse.left <= 0) throw new CrashError()
}

/** Wraps a store so that the process may end before, in and after any transaction. */
function fusedStore(store: Store, fuse: Fuse): Store {
  const fusedSql = (sql: Sql): Sql => ({
    engine: sql.engine,
    all: (text, ...params) => (burn(fuse), sql.all(text, ...params)),
    get: (text, ...params) => (burn(fuse), sql.get(text, ...params)),
    run: (text, ...params) => (burn(fuse), sql.run(text, ...params)),
    write: (statement, ...params) => (burn(fuse), sql.write(statement, ...params)),
  })
  return {
    read: fusedSql(store.read),
    async transaction(scope, work) {
      burn(fuse)
      const result = await store.transaction(scope, (sql) => work({ ...sql, ...fusedSql(sql) }))
      burn(fuse)
      return result
    },
    close: () => store.close(),
  }
}

interface Accepted {
  readonly expiresAtMs: number
}

async function live(world: RelayWorld, seed: number): Promise<void> {
  const random = createRandom(seed)
  const chance = (of: number): boolean => random() < of
  const upTo = (most: number): number => Math.floor(random() * (most + 1))
  const { node } = world
  const { store } = world.opened
  const attempts = new Map<string, Accepted>()
  let fuse: Fuse = { left: Infinity }
  let stale = node.snapshot()
  const trouble = { fault: 0, lie: 0, crash: 0, old: 0.3 }

  node.onReceived = (sent) => requireAllowed(sent, world, attempts)
  node.before = () => {
    burn(fuse)
    if (chance(trouble.fault)) throw new NodeUnavailableError('away')
  }
  node.after = () => {
    burn(fuse)
    if (chance(trouble.fault)) throw new NodeUnavailableError('too slow')
  }
  node.lie = (call) => {
    if (!chance(trouble.lie)) return undefined
    const refused: RpcOutcome = { ok: false, code: -32000, message: pick(random, ERROR_TEXTS), data: undefined }
    if (call.method === 'eth_sendRawTransaction') {
      const sent = node.received.at(-1)!
      // The transaction is taken and then forgotten, or taken while the answer denies it.
      if (chance(0.5) && node.mempool.get(sent.nonce)?.hash === sent.hash) node.mempool.delete(sent.nonce)
      return chance(0.5) ? refused : { ok: true, result: sent.hash }
    }
    if (call.method === 'eth_getTransactionReceipt' && chance(0.3)) return { ok: true, result: null }
    return chance(0.7) ? stale(call) : chance(0.5) ? refused : { ok: true, result: pick(random, NONSENSE) }
  }

  // Other nodes keep transactions that this one replaced or forgot: any bytes that ever went out can be mined.
  node.elsewhere = (nonce) => {
    if (!chance(trouble.old)) return undefined
    return pick(
      random,
      node.received.filter((sent) => sent.nonce === nonce),
    )
  }

  function start(): void {
    fuse = { left: chance(trouble.crash) ? 1 + upTo(120) : Infinity }
    world.restart(fusedStore(store, fuse))
  }

  async function tolerant(work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (error instanceof CrashError || fuse.left <= 0) start()
      else if (!(error instanceof NodeUnavailableError || error instanceof RelayRefusedError)) throw error
    }
  }

  async function enqueue(): Promise<void> {
    const trader = chance(0.5) ? TRADER : OTHER_TRADER
    const attempt = attemptOf({ expiresAtMs: world.nowMs + (chance(0.3) ? upTo(20_000) : FAR_MS), trader })
    attempts.set(attempt.id, attempt)
    const isTwice = chance(0.1)
    await tolerant(() =>
      fusedStore(store, fuse).transaction(TEST_SCOPE, async (sql) => {
        const action = { attempt, trader, agent: trader, purpose: { kind: 'other' } } as const
        const { hash } = await world.relaying.enqueue(sql, action)
        if (isTwice) assert.equal((await world.relaying.enqueue(sql, action)).hash, hash)
        if (chance(0.1)) throw new RelayRefusedError('busy', 'the write failed for another reason')
      }),
    )
  }

  const operations: readonly (readonly [number, () => unknown])[] = [
    [40, () => tolerant(() => world.relaying.step())],
    [20, () => enqueue()],
    [20, () => node.mine(upTo(4))],
    [8, () => node.head() > 6 && node.reorg(1 + upTo(3), chance(0.5) ? 'drop' : 'remine')],
    [1, () => node.useElsewhere(node.used() + (chance(0.3) ? upTo(3) : 0))],
    [10, () => (world.nowMs += upTo(3_000))],
    [3, () => (node.baseFeeWei = 1_000_000n * BigInt(1 + upTo(60)))],
    [1, () => (node.balanceWei = chance(0.5) ? 10n ** 19n : 10n ** 13n)],
    [3, () => node.mempool.delete(node.used() + upTo(3))],
    [3, () => (stale = node.snapshot())],
    [
      2,
      () =>
        Object.assign(trouble, {
          fault: chance(0.3) ? 0.3 : 0,
          lie: chance(0.3) ? 0.3 : 0,
          crash: chance(0.4) ? 1 : 0,
        }),
    ],
    [2, () => start()],
  ]
  const total = operations.reduce((sum, [weight]) => sum + weight, 0)
  for (let i = 0; i < OPERATIONS; i += 1) {
    let at = random() * total
    await operations.find(([weight]) => (at -= weight) < 0)?.[1]()
    requireOnce(node.minedTransactions())
  }

  Object.assign(trouble, { fault: 0, lie: 0, crash: 0, old: 0 })
  node.balanceWei = 10n ** 19n
  start()
  await untilSettled(world)
  await requireEnd(world, attempts)
}

const ERROR_TEXTS: readonly [string, ...string[]] = [
  'nonce too low',
  'replacement transaction underpriced',
  'insufficient funds for gas * price + value',
  'already known',
  'internal error',
]

const NONSENSE = [null, '0x', {}, 'yes', 7, '0x5']

function pick<Value>(random: () => number, of: readonly [Value, ...Value[]]): Value

function pick<Value>(random: () => number, of: readonly Value[]): Value | undefined

function pick<Value>(random: () => number, of: readonly Value[]): Value | undefined {
  return of[Math.floor(random() * of.length)]
}

function requireAllowed(
  { to, value, data }: SentTransaction,
  { nowMs }: RelayWorld,
  attempts: ReadonlyMap<string, Accepted>,
): void {
  assert.equal(value, 0n)
  if (data.length === 2) return assert.equal(to, testKey.address.toLowerCase())
  assert.equal(to, CHAIN.diamond.toLowerCase())
  assert.ok(data.startsWith(ACTION_SELECTOR))
  const { expiresAtMs } = attempts.get(idOf(data))!
  assert.ok(expiresAtMs > nowMs, 'an action was sent after its time')
}

function idOf(data: string): string {
  return `0x${data.slice(-16)}`
}

function idsOf(mined: readonly SentTransaction[]): string[] {
  return mined.filter(({ to }) => to === CHAIN.diamond.toLowerCase()).map(({ data }) => idOf(data))
}

function requireOnce(mined: readonly SentTransaction[]): void {
  const ids = idsOf(mined)
  assert.equal(new Set(ids).size, ids.length, 'an attempt was mined twice')
  assert.deepEqual(
    mined.map(({ nonce }) => nonce),
    mined.map((_, i) => i),
  )
}

async function untilSettled(world: RelayWorld): Promise<void> {
  for (let left = 400; left > 0; left -= 1) {
    await world.pass(1, 1_500)
    if (world.relaying.health().unsettled === 0 && left < 390) return
  }
  assert.fail(
    `not settled: ${JSON.stringify(world.relaying.health(), (_, value) => (typeof value === 'bigint' ? String(value) : value))}`,
  )
}

interface StoredEntry {
  readonly attempt_id: string | null
  readonly state: string
  readonly nonce: bigint
  readonly counted_wei: string
}

async function requireEnd({ node, opened }: RelayWorld, attempts: ReadonlyMap<string, Accepted>): Promise<void> {
  const mined = node.minedTransactions()
  requireOnce(mined)
  const ids = new Set(idsOf(mined))
  const entries = await opened.store.read.all<StoredEntry>(
    'select attempt_id, state, nonce, counted_wei from relay_entries',
  )
  for (const { state, attempt_id } of entries) {
    assert.notEqual(state, 'live')
    if (attempt_id !== null && attempts.get(attempt_id)!.expiresAtMs > START_MS + FAR_MS / 2) {
      assert.ok(ids.has(attempt_id), 'an attempt with time enough was not mined')
    }
  }
  const own = new Set(entries.map(({ attempt_id }) => attempt_id))
  for (const id of ids) assert.ok(own.has(id), 'an attempt was sent that is not stored')
  const counted = entries.reduce((sum, { counted_wei }) => sum + BigInt(counted_wei), 0n)
  const days = await opened.store.read.all<{ wei: string; trader: string }>('select trader, wei from relay_gas')
  const sum = days.filter(({ trader }) => trader === '').reduce((wei, day) => wei + BigInt(day.wei), 0n)
  const paid = mined.filter(({ raw }) => raw.length > 2).reduce((wei, { maxFeeWei }) => wei + 20_000n * maxFeeWei, 0n)
  assert.equal(sum, counted)
  assert.equal(sum, paid)
}

it('through faults, lies, reorganisations, strangers and ends of the process', { timeout: 1_200_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 2 ** 31 }), async (seed) => {
      const fresh = await openRelayWorld({ traderDayWei: 10n ** 18n })
      try {
        await live(fresh, seed)
      } finally {
        await fresh.close()
      }
    }),
    // The first was found later: a node's lie let a transaction count as final that a reorganisation had dropped.
    { numRuns: RUNS, endOnFailure: true, examples: [[1102047656]] },
  )
})
