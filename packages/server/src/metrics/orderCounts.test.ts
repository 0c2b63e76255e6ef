import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { OrderStatus } from '@bezel/protocol'
import { until } from '@bezel/testkit/until.ts'
import { migrate } from '../store/openStore.ts'
import { countOrders, type CountedOrders } from '../store/orderStore.ts'
import { openTestStore, type TestStore } from '../store/testing/testStore.ts'
import { TEST_SCOPE } from '../store/testing/testScope.ts'
import { createOrderCounts, type OrderCounts } from './orderCounts.ts'

const changeOf = (id: number, before: OrderStatus | undefined, after: OrderStatus | undefined) => ({
  record: { id: String(id) },
  before: before && { status: before },
  after: after && { status: after },
})
const pageOf = (
  byStatus: Partial<Record<OrderStatus, number>>,
  last: number | undefined,
  commits: number,
): CountedOrders => ({
  byStatus: new Map(Object.entries(byStatus) as [OrderStatus, number][]),
  last: last === undefined ? undefined : BigInt(last),
  asOf: new Map([['base', commits]]),
})
const at = (number: number | undefined) => ({ chain: 'base', number })

describe('the counts of orders', () => {
  let errors: unknown[]
  let counts: OrderCounts
  let asked: { readonly after: bigint; readonly page: PromiseWithResolvers<CountedOrders> }[]
  let end: () => Promise<void>

  beforeEach(() => {
    errors = []
    asked = []
    counts = createOrderCounts({ onError: (error) => errors.push(error), retryMs: 1 })
    assert.equal(counts.current(), undefined)
    end = counts.begin((after) => {
      const page = Promise.withResolvers<CountedOrders>()
      asked.push({ after, page })
      return page.promise
    })
  })
  afterEach(async () => {
    const ended = end()
    for (const { page } of asked) page.resolve(pageOf({}, undefined, 0))
    await ended
  })

  const known = () => until('the counts', () => counts.current()).then((current) => Object.fromEntries(current))
  const nextPage = (number: number) => until(`page ${number}`, () => asked[number])
  async function answer(number: number, page: CountedOrders): Promise<bigint> {
    const question = await nextPage(number)
    question.page.resolve(page)
    return question.after
  }

  it('are unknown until the last page is read, and go on with each change', async () => {
    assert.equal(await answer(0, pageOf({ open: 2, filled: 1 }, 30, 3)), 0n)
    await nextPage(1)
    assert.equal(counts.current(), undefined)
    assert.equal(await answer(1, pageOf({ open: 1 }, undefined, 3)), 30n)
    assert.deepEqual(await known(), { open: 3, filled: 1 })
    counts.apply(
      [changeOf(31, undefined, 'prepared'), changeOf(4, 'open', 'filled'), changeOf(5, 'open', 'open')],
      at(4),
    )
    counts.apply([changeOf(31, 'prepared', undefined)], at(undefined))
    counts.apply([changeOf(4, undefined, 'filled')], at(3))
    assert.deepEqual(Object.fromEntries(counts.current()!), { open: 2, filled: 2, prepared: 0 })
    counts.forget('filled', 1)
    counts.forget('expired', 1)
    assert.deepEqual(Object.fromEntries(counts.current()!), { open: 2, filled: 1, prepared: 0, expired: 0 })
  })

  it('have each change once that is committed between the pages, whichever page it belongs to', async () => {
    await answer(0, pageOf({ open: 2 }, 10, 4))
    counts.apply([changeOf(1, 'open', 'filled'), changeOf(20, 'open', 'canceled')], at(5))
    await answer(1, pageOf({ canceled: 1 }, 20, 5))
    counts.apply(
      [changeOf(2, 'open', 'filled'), changeOf(15, undefined, 'open'), changeOf(99, undefined, 'open')],
      at(6),
    )
    counts.apply([changeOf(98, undefined, 'open')], at(7))
    await answer(2, pageOf({ open: 1 }, undefined, 6))
    assert.deepEqual(await known(), { open: 3, filled: 2, canceled: 1 })
  })

  it('are counted again where commits are missing, and stay until then', async () => {
    await answer(0, pageOf({ open: 1 }, undefined, 1))
    await known()
    counts.restart()
    await nextPage(1)
    counts.restart()
    assert.deepEqual(Object.fromEntries(counts.current()!), { open: 1 })
    await answer(2, pageOf({ filled: 2 }, undefined, 9))
    await until('the new ones', () => counts.current()?.get('filled') === 2)
    await answer(1, pageOf({ filled: 7 }, undefined, 5))
    assert.deepEqual(Object.fromEntries(counts.current()!), { filled: 2 })
  })

  it('are counted again after a fault, and when orders were forgotten meanwhile', async () => {
    ;(await nextPage(0)).page.reject(new Error('a fault'))
    await answer(1, pageOf({ expired: 3 }, 10, 1))
    await nextPage(2)
    counts.forget('expired', 1)
    await answer(2, pageOf({}, undefined, 1))
    assert.equal(await answer(3, pageOf({ expired: 2 }, undefined, 1)), 0n)
    assert.deepEqual([await known(), errors.length], [{ expired: 2 }, 1])
  })

  it('are none where nothing is counted any more', async () => {
    await answer(0, pageOf({ open: 1 }, undefined, 1))
    await known()
    await end()
    counts.restart()
    counts.apply([changeOf(1, undefined, 'open')], at(2))
    assert.deepEqual([counts.current(), asked.length], [undefined, 1])
  })
})

describe('the pages of the counted orders', () => {
  let opened: TestStore
  beforeEach(async () => {
    opened = openTestStore()
    await migrate(opened.store)
  })
  afterEach(() => opened.remove())

  it('have every order once, also those without a status, and say the last commit', async () => {
    const statuses = ['open', 'filled', null, 'open', 'filled', 'open', null]
    await opened.store.transaction(TEST_SCOPE, async (sql) => {
      for (const [index, status] of statuses.entries()) {
        await sql.run(
          `insert into orders (id, chain, trader, request, created_at, spend_usd, status)
           values ($1, 'base', '0x1', '{}', 1, '0', $2)`,
          3 * index + 1,
          status,
        )
      }
      await sql.run(`insert into chain_times (chain, committed_at, commits) values ('base', 1, 7)`)
    })
    const { read } = opened.store
    const lasts: (bigint | undefined)[] = []
    const total = new Map<string, number>()
    for (let after: bigint | undefined = 0n; after !== undefined;) {
      const page: CountedOrders = await countOrders(read, after, 3)
      assert.deepEqual([...page.asOf], [['base', 7]])
      for (const [status, count] of page.byStatus) total.set(status, (total.get(status) ?? 0) + count)
      lasts.push((after = page.last))
    }
    assert.deepEqual([lasts, Object.fromEntries(total)], [[7n, 16n, undefined], { open: 3, filled: 2 }])
    const whole = await countOrders(read, 0n)
    assert.deepEqual([whole.last, Object.fromEntries(whole.byStatus)], [undefined, { open: 3, filled: 2 }])
  })
})
