import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Usd, type Address, type ChainSlug, type OrderId, type OrderStatus } from '@bezel/protocol'
import type { OrderRecord, OrderState } from '../trading/orders/orderModel.ts'
import { migrate } from './openStore.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { insertOrder, listFilledOrders, saveOrderState } from './orderStore.ts'
import type { Store } from './sql.ts'
import { ON_SQLITE, openTestStore, type TestStore } from './testing/testStore.ts'
import { aFill, anOrder } from '../trading/orders/testing/orderHistory.ts'
import { TEST_SCOPE } from './testing/testScope.ts'

const ALICE = `0x${'a'.repeat(40)}` as Address
const BOB = `0x${'b'.repeat(40)}` as Address

describe('listFilledOrders', () => {
  let opened: TestStore

  before(async () => {
    opened = openTestStore()
    // The schema of a deployment from before the account log.
    await migrate(opened.store, MIGRATIONS.slice(0, 2))
    await opened.store.transaction(TEST_SCOPE, async (sql) => {
      for (const id of [1, 2]) await insertOrder(sql, recordOf(id))
      await sql.run(
        `update orders set status = 'filled', state = $1 where id = 1`,
        JSON.stringify(stateOf('filled', 9)),
      )
    })
    await migrate(opened.store)
  })
  after(() => opened.remove())

  const save = (store: Store, id: number, status: OrderStatus | undefined, filledAtMs = 0): Promise<void> =>
    store.transaction(TEST_SCOPE, (sql) =>
      saveOrderState(
        sql,
        String(id) as OrderId,
        status === undefined ? undefined : stateOf(status, filledAtMs),
        undefined,
      ),
    )
  const listed = async (limit: number): Promise<string[]> =>
    (await listFilledOrders(opened.store.read, 'base', ALICE, limit)).map(({ record }) => record.id)

  it('gives the latest fills first, whatever the age of their orders', async () => {
    const { store } = opened
    assert.deepEqual(await listed(50), ['1'], 'one from before')
    for (const [id, of] of [[3], [4], [5], [6, { trader: BOB }], [7, { chain: 'arbitrum' as ChainSlug }]] as const) {
      await store.transaction(TEST_SCOPE, (sql) => insertOrder(sql, recordOf(id, of)))
    }
    await save(store, 3, 'filled', 5_000)
    await save(store, 4, 'filled', 4_000)
    await save(store, 5, 'open')
    for (const id of [6, 7]) await save(store, id, 'filled', 9_000)
    await save(store, 2, 'filled', 6_000)
    assert.deepEqual(await listed(50), ['2', '3', '4', '1'])
    assert.deepEqual(await listed(2), ['2', '3'])
  })

  it('leaves out one whose fill was taken back', async () => {
    await save(opened.store, 3, 'open')
    await save(opened.store, 4, undefined)
    assert.deepEqual(await listed(50), ['2', '1'])
  })

  it('goes by an index', ON_SQLITE, async () => {
    const plan = await opened.store.read.all<{ detail: string }>(
      `explain query plan select id from orders where chain = 'base' and trader = 'x' and filled_at is not null
       order by filled_at desc, id desc limit 50`,
    )
    assert.deepEqual(
      plan.map(({ detail }) => /USING (?:COVERING )?INDEX (\w+)/.exec(detail)?.[1]),
      ['orders_filled'],
    )
  })
})

function recordOf(id: number, of: Partial<OrderRecord> = {}): OrderRecord {
  const by = { chain: 'base', trader: ALICE, agent: null, originKey: null } as const
  return anOrder({}, { id: String(id) as OrderId, ...by, createdAtMs: id, spendUsd: Usd.zero, ...of })
}

function stateOf(status: OrderStatus, filledAtMs: number): OrderState {
  const fill = status === 'filled' ? aFill({ timestamp: filledAtMs }) : null
  const { size, price, sl, tp, slippage } = anOrder().request
  const due = { expiresAtMs: null, dueAtMs: null, dueBlock: null, countedSinceMs: 1 }
  const onChain = { txHash: null, tradeIndex: null, unanswered: [], reason: null }
  return { status, fill, updatedAtMs: 1, size, price, sl, tp, slippage, ...due, ...onChain }
}
