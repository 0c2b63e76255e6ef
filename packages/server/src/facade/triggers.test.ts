import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { Price, Usd, type Hex, type OrderId } from '@bezel/protocol'
import { usd } from '../market/testing/fixtures.ts'
import type { TriggerKey } from '../store/facadeTriggerStore.ts'
import { takeId, insertOrder } from '../store/orderStore.ts'
import { MIGRATIONS } from '../store/migrations/index.ts'
import { migrate } from '../store/openStore.ts'
import { insertPosition } from '../store/positionStore.ts'
import { ON_POSTGRES, openTestStore, type TestStore } from '../store/testing/testStore.ts'
import type { LivePosition } from '../trading/positions/positionModel.ts'
import { ALICE, livePosition } from './testing/facadeWorld.ts'
import {
  createTriggers,
  foldTriggers,
  originOfTrigger,
  triggerOfOrigin,
  wholeKeyOf,
  type CarriedTrigger,
  type TriggerOrder,
} from './triggers.ts'
import { TEST_SCOPE } from '../store/testing/testScope.ts'

const key = (positionId: string, kind: TriggerKey['kind']): TriggerKey => ({ positionId: positionId as OrderId, kind })

describe('ids of take profits and stop losses', () => {
  let opened: TestStore

  beforeEach(async () => {
    opened = openTestStore()
    await migrate(opened.store)
    await opened.store.transaction(TEST_SCOPE, async (sql) => {
      for (let i = 0; i < 3; i += 1) {
        const id = await takeId(sql)
        const order = { id, chain: 'base' as const, trader: ALICE, agent: null, createdAtMs: 1, originKey: `tx:${id}` }
        await insertOrder(sql, { ...order, spendUsd: Usd.zero, request: { clientId: null } as never })
        await insertPosition(sql, { id, chain: 'base', trader: ALICE, originOrderId: id })
      }
    })
  })
  afterEach(() => opened.remove())

  const held = (id: string, sl: number, changes = {}): LivePosition =>
    livePosition(id, { sl: usd(sl), tp: Price.zero, ...changes })
  const shown = (orders: readonly TriggerOrder[]) =>
    orders.map(({ oid, kind, price, parts }) => [oid, kind, price, parts.map(({ record }) => record.id)])

  it('come from the one sequence of the deployment, one for each coin, side, kind and price', async () => {
    const triggers = createTriggers(opened.store)
    const positions = [held('1', 55_000), held('2', 55_000, { tp: usd(70_000) }), held('3', 61_000, { long: false })]
    assert.equal(await triggers.oidOf(key('1', 'sl')), undefined)
    assert.deepEqual(shown(await triggers.list(positions)), [
      ['4', 'tp', usd(70_000), ['2']],
      ['5', 'sl', usd(55_000), ['1', '2']],
      ['6', 'sl', usd(61_000), ['3']],
    ])
    assert.equal(await opened.store.transaction(TEST_SCOPE, takeId), '7')
    assert.deepEqual(await triggers.find('5' as OrderId), { kind: 'sl', parts: ['1', '2'], formerParts: [] })
    assert.equal(await triggers.find('7' as OrderId), undefined)
    assert.deepEqual(await triggers.list([]), [])
  })

  it('are the same after a restart, in another process, and for readers that come together', async () => {
    const positions = [held('1', 55_000), held('2', 56_000)]
    const [mine, others] = [createTriggers(opened.store), createTriggers(opened.store)]
    const answers = await Promise.all([mine, others, mine].map((one) => one.list(positions)))
    assert.deepEqual(shown(answers[0]!), shown(answers[1]!))
    assert.deepEqual(shown(answers[0]!), shown(answers[2]!))
    assert.deepEqual(shown(await createTriggers(await opened.reopen()).list(positions)), shown(answers[0]!))
  })

  it('are one where trades come to the same price, and two where they part', async () => {
    const triggers = createTriggers(opened.store)
    const [first, second] = await triggers.list([held('1', 55_000), held('2', 56_000)])
    const joined = await triggers.list([held('1', 56_000), held('2', 56_000)])
    assert.deepEqual(shown(joined), [[first!.oid, 'sl', usd(56_000), ['1', '2']]])
    assert.deepEqual(await triggers.find(second!.oid), { kind: 'sl', parts: [], formerParts: ['2'] })
    const parted = await triggers.list([held('1', 56_000), held('2', 57_000)])
    assert.equal(parted[0]!.oid, first!.oid)
    assert.ok(![first!.oid, second!.oid].includes(parted[1]!.oid))
  })

  it('are new for another order in the same place, and the old one is found as a former one', async () => {
    const [triggers, others] = [createTriggers(opened.store), createTriggers(opened.store)]
    const positions = [held('1', 55_000), held('2', 56_000)]
    const before = await triggers.list(positions)
    const terms = { kind: 'sl', price: usd(57_000), parts: positions, isWhole: true } as const
    const oid = await opened.store.transaction(TEST_SCOPE, (sql) => triggers.assign(sql, terms))
    triggers.forget(terms)
    assert.deepEqual(await triggers.placed(wholeKeyOf(positions[0]!, 'sl')), { oid, price: usd(57_000) })
    for (const { oid: old } of before) assert.deepEqual((await triggers.find(old))?.parts, [])
    // Only one of them is at the price yet: it has the id that the client was told.
    for (const one of [triggers, others]) {
      const listed = await one.list([held('1', 55_000), held('2', 57_000)])
      assert.equal(listed.find(({ price }) => price === usd(57_000))?.oid, oid)
    }
    const moved = { ...terms, oid, price: usd(58_000) }
    assert.equal(await opened.store.transaction(TEST_SCOPE, (sql) => triggers.assign(sql, moved)), oid)
    triggers.forget(moved)
    assert.deepEqual(shown(await triggers.list([held('1', 58_000), held('2', 58_000)])), [
      [oid, 'sl', usd(58_000), ['1', '2']],
    ])
  })

  it('are on their way for as long as their transaction is, or until they are there', async () => {
    const [triggers, others] = [createTriggers(opened.store), createTriggers(opened.store)]
    const whole = wholeKeyOf(held('1', 55_000), 'sl')
    const hashOf = (price: number) => `0x${String(price)}` as Hex
    const changeTo = (price: number) =>
      opened.store.transaction(TEST_SCOPE, (sql) =>
        triggers.sent(sql, whole, { oid: '9' as OrderId, price: usd(price), hash: hashOf(price) }),
      )
    const mined = new Set<Hex>()
    const relayer = { isOnItsWay: async (hash: Hex) => !mined.has(hash) }
    const priceOf = async (of = triggers) => (await of.onItsWay(whole, relayer))?.price
    assert.equal(await priceOf(), undefined)
    await changeTo(55_000)
    assert.equal(await priceOf(), usd(55_000))
    assert.equal(await triggers.onItsWay({ ...whole, kind: 'tp' }, relayer), undefined)
    await changeTo(56_000)
    triggers.settled(hashOf(55_000))
    assert.equal(await priceOf(), usd(56_000))
    triggers.settled(hashOf(56_000))
    assert.equal(await priceOf(), undefined)
    assert.equal(await priceOf(others), usd(56_000), 'another process has not seen it arrive')
    assert.equal(await priceOf(createTriggers(opened.store)), usd(56_000), 'nor has one that starts')
    mined.add(hashOf(56_000))
    assert.equal(await priceOf(others), undefined)
  })

  it('are read anew by a node while others change them', ON_POSTGRES, async () => {
    const [writing, reading] = [createTriggers(opened.store), createTriggers(opened.store)]
    const positions = [held('1', 55_000), held('2', 55_000)]
    const terms = { kind: 'sl', price: usd(55_000), parts: positions, isWhole: true } as const
    for (let change = 0; change < 2; change += 1) {
      const oid = await opened.store.transaction(TEST_SCOPE, (sql) => writing.assign(sql, terms))
      assert.deepEqual(shown(await reading.list(positions)), [[oid, 'sl', usd(55_000), ['1', '2']]])
      assert.equal((await reading.placed(wholeKeyOf(positions[0]!, 'sl')))?.oid, oid)
    }
  })

  it('are found from the order that executed them', () => {
    for (const one of [key('12', 'tp'), key('9', 'sl')]) assert.deepEqual(triggerOfOrigin(originOfTrigger(one)), one)
    for (const origin of [null, '', 'liq:5', 'tp:', 'tx:tp:5', 'tp:5x'])
      assert.equal(triggerOfOrigin(origin), undefined)
  })
})

describe('a store from before, with an order for each trade', () => {
  it('keeps its ids: one of equal ones goes on, the others are former ones, as are those that were', async () => {
    const opened = openTestStore()
    await migrate(opened.store, MIGRATIONS.slice(0, 15))
    await opened.store.transaction(TEST_SCOPE, async (sql) => {
      for (const id of [1n, 2n]) {
        await sql.run(
          `insert into orders (id, chain, trader, request, created_at, spend_usd) values ($1, 'base', $2, '{}', 1, '0')`,
          id,
          ALICE,
        )
        await sql.run(
          `insert into positions (id, chain, trader, origin_order_id, is_open) values ($1, 'base', $2, $1, 1)`,
          id,
          ALICE,
        )
        await sql.run(`insert into facade_triggers (position_id, kind, oid) values ($1, 'sl', $2)`, id, id + 10n)
      }
      await sql.run(`insert into facade_former_triggers (oid, position_id, kind) values (9, 2, 'sl')`)
    })
    await migrate(opened.store)
    const triggers = createTriggers(opened.store)
    const positions = ['1', '2'].map((id) => livePosition(id, { sl: usd(55_000), tp: Price.zero }))
    const [order, ...others] = await triggers.list(positions)
    assert.deepEqual([order!.oid, order!.parts.length, others], ['11', 2, []])
    for (const oid of ['9', '12'] as OrderId[]) {
      assert.deepEqual(await triggers.find(oid), { kind: 'sl', parts: [], formerParts: ['2'] })
    }
    await opened.remove()
  })
})

describe('the fold of triggers, on random trades', () => {
  /** Returns whole numbers below a bound; the same for the same seed. */
  function seeded(seed: number): (below: number) => number {
    let state = seed
    return (below) => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
      return Math.floor((state / 2 ** 32) * below)
    }
  }

  it('gives each price one id, each id one price, each trade one order, and is stable', () => {
    for (let seed = 1; seed <= 500; seed += 1) {
      const next = seeded(seed)
      const oidAt = (): OrderId | undefined => (next(4) === 0 ? undefined : (String(1 + next(4)) as OrderId))
      const carried: CarriedTrigger<number>[] = Array.from({ length: 1 + next(6) }, (_, part) => ({
        part,
        price: usd(50_000 + next(3)),
        oid: oidAt(),
      }))
      const placed = next(2) === 0 ? undefined : { oid: String(1 + next(4)) as OrderId, price: usd(50_000 + next(4)) }
      const folded = foldTriggers(carried, placed)
      const parts = folded.flatMap((order) => order.parts)
      assert.deepEqual(parts.toSorted(), Array.from(carried.keys()))
      assert.equal(new Set(folded.map(({ price }) => price)).size, folded.length)
      const ids = folded.map(({ oid }) => oid).filter((oid) => oid !== undefined)
      assert.equal(new Set(ids).size, ids.length)
      const isThere = carried.some(({ oid }) => oid === placed?.oid)
      assert.equal(ids.includes(placed?.oid as OrderId), placed !== undefined && isThere)
      // Once its ids are stored, the fold says the same again.
      let lastNew = 100
      const named = folded.map((order) => ({ ...order, oid: order.oid ?? (String((lastNew += 1)) as OrderId) }))
      const stored = named.flatMap(({ price, oid, parts: of }) => of.map((part) => ({ part, price, oid })))
      const again = foldTriggers(
        stored.toSorted((a, b) => a.part - b.part),
        placed,
      )
      assert.deepEqual(
        again,
        named.map((order) => ({ ...order, isMixed: false })),
      )
    }
  })
})
