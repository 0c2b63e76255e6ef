import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { getAddress, numberToHex } from 'viem'
import type { Address, Hex } from '@bezel/protocol'
import { startPostgres, type RunningPostgres } from '@bezel/testkit/startPostgres.ts'
import { startTripCounter, type TripCounter } from '@bezel/testkit/startTripCounter.ts'
import { installPostgres } from '../../../../scripts/installPostgres.ts'
import type { DiamondEvent } from '../chain/events.ts'
import { openPostgres } from '../store/postgres.ts'
import type { Store } from '../store/sql.ts'
import { openSqliteTestStore } from '../store/testing/testStore.ts'
import type { AttemptId, OrderRecord } from '../trading/orders/orderModel.ts'
import type { FakeTransaction } from './testing/fakeNode.ts'
import { expectSameStores } from './testing/expectSameStores.ts'
import { openFollowedFake, type FollowedFake } from './testing/followedFake.ts'
import {
  attempt,
  calldataOf,
  CHAIN,
  executed,
  feesProcessed,
  feesRealized,
  ORACLE,
  orderRecord,
  requested,
  stored,
  tradeClosed,
} from './testing/handMade.ts'

/** Round trips to PostgreSQL that a block of 200 logs may take, with the reads of the step that applies it. */
const MAX_TRIPS = 25
const LOGS = 200

/** Number of traders in a block; each has two prepared orders and one that was made elsewhere. */
const TRADERS = 20

let server: RunningPostgres
let counter: TripCounter
let store: Store
let fake: FollowedFake
/** The same chain, followed on SQLite, which reads nothing ahead. */
let twin: FollowedFake

before(async () => {
  installPostgres()
  server = await startPostgres()
  await server.createDatabase('trips')
  counter = await startTripCounter(server.port)
  store = openPostgres({
    url: server.urlOf('trips', counter.port),
    connections: 4,
    statementMs: 60_000,
    idleTransactionMs: 60_000,
  })
  const opened = openSqliteTestStore()
  await opened.store.close()
  opened.store = store
  fake = await openFollowedFake({}, opened)
  twin = await openFollowedFake({}, openSqliteTestStore())
})
after(async () => {
  await fake?.opened.remove()
  await twin?.opened.remove()
  await counter?.close()
  await server?.remove()
})

const traderOf = (at: number): Address => getAddress(numberToHex(0xbeec_0000 + at, { size: 20 })) as Address

/** Prepares orders of each trader, and returns the transactions that request them and one more each. */
async function requests(round: number): Promise<FakeTransaction[]> {
  const made: FakeTransaction[] = []
  for (let at = 0; at < TRADERS; at += 1) {
    const trader = traderOf(at)
    for (const own of [0, 1, 2]) {
      const index = round * 3 + own
      const id = numberToHex(0xa000_0000 + index * 1_000 + at, { size: 8 }) as AttemptId
      const input = own === 2 ? ('0x5b5b' as Hex) : calldataOf('5b'.repeat(20), id)
      const record: OrderRecord = { ...orderRecord(0), trader }
      const prepared = attempt(id, { calldata: input, sender: trader })
      if (own < 2) for (const one of [fake, twin]) await one.prepare(record, prepared)
      made.push({ from: trader, input, events: [requested({ index, trade: { user: trader, index } })] })
    }
  }
  return made
}

/** Returns the transactions of the oracle that open what was requested, as the contracts log it. */
function openings(round: number): FakeTransaction[] {
  return perTrade(round, ({ trader, index }) => [
    { ...feesRealized(), args: { ...feesRealized().args, trader, index } },
    stored({ user: trader, index }),
    { ...feesProcessed(), args: { ...feesProcessed().args, trader } },
    executed({ pendingIndex: index, trade: { user: trader, index } }),
  ])
}

/** Returns the transactions that close all that was opened. */
function closings(round: number): FakeTransaction[] {
  return perTrade(round, ({ trader, index }) => [
    { ...feesRealized(), args: { ...feesRealized().args, trader, index } },
    { ...tradeClosed(index), args: { ...tradeClosed(index).args, user: trader } },
    { ...feesProcessed(1), args: { ...feesProcessed(1).args, trader } },
    executed({ open: false, pendingIndex: 500 + index, trade: { user: trader, index } }),
  ])
}

function perTrade(
  round: number,
  eventsOf: (of: { readonly trader: Address; readonly index: number }) => DiamondEvent[],
): FakeTransaction[] {
  return Array.from({ length: TRADERS * 3 }, (_, at) => ({
    from: ORACLE,
    events: eventsOf({ trader: traderOf(Math.floor(at / 3)), index: round * 3 + (at % 3) }),
  }))
}

/** Mines a block on both chains and follows it. Returns the round trips that were seen from the network. */
async function follow(...transactions: readonly FakeTransaction[]): Promise<number> {
  for (const one of [fake, twin]) one.node.mine(...transactions)
  await twin.follow()
  const tripsBefore = counter.trips()
  await fake.follow()
  return counter.trips() - tripsBefore
}

/** Lists the events of the logs, by trader, without the ids in them. */
async function logs({ read }: Store): Promise<unknown[]> {
  return read.all(
    `select trader, seq, channel, block_number from account_logs join account_events on account_logs.id = log_id
     order by trader, seq`,
  )
}

describe('round trips to PostgreSQL of a block of 200 logs', () => {
  it('are few, and leave what SQLite has after the same block', async () => {
    await follow()
    for (const round of [1, 2]) {
      const asked = await requests(round)
      await follow()
      const block = [...asked, ...closings(round - 1), ...openings(round)]
      assert.ok(block.flatMap(({ events = [] }) => events).length >= LOGS, 'the block is too small')
      const trips = await follow(...block)
      // The first block of its kind has its statements prepared, and nothing to close.
      if (round > 1) assert.ok(trips <= MAX_TRIPS, `${trips} trips`)
    }
    const ofTwin = twin.opened.store
    await expectSameStores(store, ofTwin, CHAIN)
    assert.deepEqual(
      (await logs(store)).map((row) => ({ ...(row as object) })),
      (await logs(ofTwin)).map((row) => ({ ...(row as object) })),
    )
    const { c } = (await store.read.get<{ c: bigint }>('select count(*) as c from fills'))!
    assert.equal(Number(c), TRADERS * 3 * 3)
  })
})
