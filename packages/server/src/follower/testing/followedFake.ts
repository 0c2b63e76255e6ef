import { createChainHead } from '../../journal/clock.ts'
import type { Hex, OrderId } from '@bezel/protocol'
import type { Changes } from '../../journal/accountLog.ts'
import { NO_JOURNAL, openTestLog } from '../../journal/testing/testLog.ts'
import { chainMarkets } from '../../market/testing/fixtures.ts'
import { insertAttempt, setSubmitted } from '../../store/attemptStore.ts'
import { refoldOrder } from '../../journal/refold.ts'
import { takeId, findOrder, insertOrder, type StoredOrder } from '../../store/orderStore.ts'
import { migrate } from '../../store/openStore.ts'
import { openTestStore, type TestStore } from '../../store/testing/testStore.ts'
import type { Attempt, AttemptId, FoldClock, OrderRecord } from '../../trading/orders/orderModel.ts'
import { testChain } from '@bezel/testkit/servedChain.ts'
import { depthFinality } from '../../chain/finality.ts'
import { createFollowing, type Following, type FollowingOptions } from '../createFollowing.ts'
import { createFakeNode, START_MS, type FakeNode } from './fakeNode.ts'
import { CHAIN, DIAMOND } from './handMade.ts'
import { TEST_SCOPE } from '../../store/testing/testScope.ts'

/** A made-up chain, a store, and a follower that a test steps by hand. */
export interface FollowedFake {
  readonly node: FakeNode
  readonly opened: TestStore
  readonly commits: Changes[]
  /** Called after every commit that changed something. */
  onCommit: (changes: Changes) => void
  following: Following
  nowMs: number
  /** Runs steps until there is nothing more to do at once. */
  follow(): Promise<void>
  /** Replaces the follower by a new one over the same store, as a restart does. */
  restart(options?: Partial<FollowingOptions>): Promise<void>
  /** Stores an order with its attempts and folds it, as preparing does. */
  prepare(record: OrderRecord, ...attempts: readonly Attempt[]): Promise<OrderId>
  /** Reports a hash for an attempt and folds its order, as submitting does. */
  report(id: OrderId, attemptId: AttemptId, hash: Hex): Promise<void>
  order(id: OrderId): Promise<StoredOrder>
}

export const SERVED = testChain(CHAIN, { diamond: DIAMOND })

const TIMEOUT_BLOCKS = 200

/** Returns the clock of a chain without blocks. */
function clockAt(nowMs: number): FoldClock {
  return { nowMs, headBlock: 0, headMs: 0, timeoutBlocks: TIMEOUT_BLOCKS }
}

/** Opens a made-up chain with a follower, over a new store or over an empty one that the test has opened. */
export async function openFollowedFake(
  options: Partial<FollowingOptions> = {},
  opened: TestStore = openTestStore(),
): Promise<FollowedFake> {
  await migrate(opened.store)
  const node = createFakeNode(DIAMOND, SERVED.chainId)
  const markets = chainMarkets()
  const commits: Changes[] = []
  const accountLog = openTestLog(
    opened.store,
    CHAIN,
    (changes) => {
      commits.push(changes)
      fake.onCommit(changes)
    },
    () => fake.nowMs,
  )

  async function start(changed: Partial<FollowingOptions>): Promise<Following> {
    const following = createFollowing({
      onError: (error) => {
        throw error
      },

      head: createChainHead(),
      chain: SERVED,
      client: node.client,
      store: opened.store,
      accountLog,
      finality: depthFinality(16),
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
    onCommit: () => {},
    following: undefined as never,
    nowMs: START_MS + 1_000_000,
    async follow() {
      while (await fake.following.step(markets));
    },
    async restart(changed = {}) {
      fake.following = await start(changed)
    },
    prepare: (record, ...attempts) =>
      opened.store.transaction(TEST_SCOPE, async (sql) => {
        const id = await takeId(sql)
        await insertOrder(sql, { ...record, id })
        for (const attempt of attempts) await insertAttempt(sql, { chain: CHAIN, orderId: id, attempt })
        await refoldOrder(sql, id, clockAt(fake.nowMs), NO_JOURNAL)
        return id
      }),
    report: (id, attemptId, hash) =>
      opened.store.transaction(TEST_SCOPE, async (sql) => {
        await setSubmitted(sql, attemptId, { hash, submittedAtMs: fake.nowMs, trustedUntilMs: null })
        await refoldOrder(sql, id, clockAt(fake.nowMs), NO_JOURNAL)
      }),
    async order(id) {
      return (await findOrder(opened.store.read, id))!
    },
  }
  fake.following = await start({})
  return fake
}
