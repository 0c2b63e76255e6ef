import { Usd, type Address, type ChainSlug, type Hex, type OrderId } from '@bezel/protocol'
import { HASH, REQUEST, STATE } from '../../server/src/facade/testing/restingOrder.ts'
import { appendEvents } from '../../server/src/store/accountEventStore.ts'
import { insertFill } from '../../server/src/store/fillStore.ts'
import { openStore } from '../../server/src/store/openStore.ts'
import { insertOrderEvent } from '../../server/src/store/orderEventStore.ts'
import { insertOrder, saveOrderState } from '../../server/src/store/orderStore.ts'
import type { Sql } from '../../server/src/store/sql.ts'
import { sampleFill } from '../../server/src/store/testing/sampleFill.ts'
import { TEST_SCOPE } from '../../server/src/store/testing/testScope.ts'

/** The account of a trader who has done more than most. */
interface BusyTrader {
  readonly chain: ChainSlug
  readonly trader: Address
  readonly fills: number
  /** How many of the orders still rest. */
  readonly resting: number
  /** Number of busy traders that the store has already. Default 0. */
  readonly nth?: number
}

/** Ids of the rows, far above those that a young service takes. */
const FIRST_ID = 5_000_000

/** Ids that each trader has for its rows. */
const IDS = 100_000

/** Time of the first fill, in epoch ms; one follows each second. */
const FIRST_MS = 1_700_000_000_000

/**
 * Writes the history of a busy trader into the store of a service that is not running: that many filled orders, each
 * with its fill and its event. Nothing of it is on a chain, so it costs a second and not a day.
 */
export async function storeBusyTrader(dataFolder: string, of: BusyTrader): Promise<void> {
  const store = await openStore(dataFolder)
  await store.transaction(TEST_SCOPE, async (sql) => {
    for (let n = 0; n < of.fills; n += 1) await storeFill(sql, of, n)
    const data = JSON.stringify({ ...REQUEST, ...STATE })
    const event = { channel: 'orders', timestampMs: FIRST_MS, block: 1, isReverted: false, data } as const
    await appendEvents(
      sql,
      of,
      Array.from({ length: of.fills }, () => event),
    )
  })
  await store.close()
}

async function storeFill(sql: Sql, { chain, trader, resting, nth = 0 }: BusyTrader, n: number): Promise<void> {
  const ownId = nth * IDS + n
  const id = String(FIRST_ID + ownId) as OrderId
  const blockHash = `0xb${n.toString(16).padStart(63, '0')}` as Hex
  const place = { blockHash, blockNumber: n + 1, logIndex: 3 + nth, txHash: HASH, timestampMs: FIRST_MS + n * 1_000 }
  const told = { timestamp: place.timestampMs, txHash: HASH, positionId: '900' }
  const amounts = { price: '60000', size: '0.251', collateral: '1500' }
  const record = { id, chain, trader, agent: null, originKey: `busy:${ownId}`, createdAtMs: place.timestampMs }
  await insertOrder(sql, { ...record, request: REQUEST, spendUsd: Usd.zero })
  // Without a trade index nobody looks for the trade on the chain, which does not have it.
  await saveOrderState(sql, id, { ...STATE, status: n < resting ? 'open' : 'filled', tradeIndex: null }, undefined)
  // Profits, fees and what was forfeited make an entry of every list.
  const books = { pnl: '1.5', fundingFee: '0.1', forfeited: '0.2', netPnl: '0.3' }
  const fill = sampleFill(FIRST_ID * 2 + ownId, { ...told, ...amounts, ...books, side: n % 2 === 0 ? 'long' : 'short' })
  await insertFill(sql, { chain, trader, pairIndex: 0, place, fill })
  const event = { ...place, attemptId: null, kind: 'executed', pendingIndex: null } as const
  await insertOrderEvent(sql, {
    chain,
    trader,
    orderId: id,
    handle: null,
    event: { ...event, fill: { ...amounts, feeCollateral: '0.9', ...told } },
  })
}
