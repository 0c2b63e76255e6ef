import type { Hex, OrderId } from '@bezel/protocol'
import type { Changes } from '../../journal/accountLog.ts'
import { NO_JOURNAL, openTestLog } from '../../journal/testing/testLog.ts'
import { chainMarkets } from '../../market/testing/fixtures.ts'
import { insertAttempt, setSubmitted } from '../../store/attemptStore.ts'
import { refoldOrder } from '../../journal/refoldOrder.ts'
import { nextId } from '../../store/idStore.ts'
import { migrate } from '../../store/migrate.ts'
import { findOrder, insertOrder, type StoredOrder } from '../../store/orderStore.ts'
import { openTestStore, type TestStore } from '../../store/testStore.ts'
import type { Attempt, AttemptId, OrderRecord } from '../../trading/orders/orderModel.ts'
import type { ServedChain } from '../../chain/servedChain.ts'
import { createFollowing, type Following, type FollowingOptions } from '../createFollowing.ts'
import { createFakeNode, START_MS, type FakeNode } from './fakeNode.ts'
import { CHAIN, DIAMOND } from './handMade.ts'

/** A made-up chain, a store, and a follower that a test moves on by hand. */
export interface FollowedFake {
  readonly node: FakeNode
  readonly opened: TestStore
  readonly commits: Changes[]
  following: Following
  nowMs: number
  /** Steps until there is nothing more to do at once. */
  follow(): Promise<void>
  /** As after a restart: a new follower over the same store. */
  restart(options?: Partial<FollowingOptions>): Promise<void>
  /** Keeps an order with its attempts and folds it, as preparing does. */
  prepare(record: OrderRecord, ...attempts: readonly Attempt[]): Promise<OrderId>
  /** Reports a hash for an attempt and folds its order, as submitting does. */
  report(id: OrderId, attemptId: AttemptId, hash: Hex): Promise<void>
  order(id: OrderId): Promise<StoredOrder>
}

export const SERVED = {
  slug: CHAIN,
  chainId: 421_614,
  testnet: true,
  diamond: DIAMOND,
  rpcUrl: '',
  wsUrl: undefined,
} as unknown as ServedChain

const TIMEOUT_BLOCKS = 200

export async function openFollowedFake(options: Partial<FollowingOptions> = {}): Promise<FollowedFake> {
  const opened = openTestStore()
  await migrate(opened.store)
  const node = createFakeNode(DIAMOND, SERVED.chainId)
  const markets = chainMarkets()
  const commits: Changes[] = []
  const accountLog = openTestLog(opened.store, CHAIN, (changes) => commits.push(changes))

  async function start(changed: Partial<FollowingOptions>): Promise<Following> {
    const following = createFollowing({
      chain: SERVED,
      client: node.client,
      store: opened.store,
      accountLog,
      finalityDepth: 16,
      startBlock: 0,
      now: () => fake.nowMs,
      timeoutBlocks: () => TIMEOUT_BLOCKS,
      ...options,
      ...changed,
    })
    await following.open()
    return following
  }

  const fake: FollowedFake = {
    node,
    opened,
    commits,
    following: undefined as never,
    nowMs: START_MS + 1_000_000,
    async follow() {
      while (await fake.following.step(markets));
    },
    async restart(changed = {}) {
      fake.following = await start(changed)
    },
    prepare: (record, ...attempts) =>
      opened.store.transaction(async (sql) => {
        const id = await nextId(sql)
        await insertOrder(sql, { ...record, id })
        for (const attempt of attempts) await insertAttempt(sql, { chain: CHAIN, orderId: id, attempt })
        await refoldOrder(sql, id, { nowMs: fake.nowMs, headBlock: 0, timeoutBlocks: TIMEOUT_BLOCKS }, NO_JOURNAL)
        return id
      }),
    report: (id, attemptId, hash) =>
      opened.store.transaction(async (sql) => {
        await setSubmitted(sql, attemptId, hash, fake.nowMs)
        await refoldOrder(sql, id, { nowMs: fake.nowMs, headBlock: 0, timeoutBlocks: TIMEOUT_BLOCKS }, NO_JOURNAL)
      }),
    async order(id) {
      return (await findOrder(opened.store.read, id))!
    },
  }
  fake.following = await start({})
  return fake
}
