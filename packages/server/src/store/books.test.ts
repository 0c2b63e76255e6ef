import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { Value } from '@sinclair/typebox/value'
import { FillHistoryEntrySchema, type Address, type FillHistoryEntry, type Hex } from '@bezel/protocol'
import { readOrderFills } from './facadeFillStore.ts'
import { insertFill, listFills, listPairFills } from './fillStore.ts'
import { MIGRATIONS } from './migrations/index.ts'
import { migrate } from './openStore.ts'
import { sampleFill } from './testing/sampleFill.ts'
import { openSqliteTestStore, type TestStore } from './testing/testStore.ts'
import { TEST_SCOPE } from './testing/testScope.ts'

const STORE = readFileSync(new URL('testing/storeOfVersion14.sql', import.meta.url), 'utf8')
const CHAIN = 'arbitrum-sepolia'
/** The trader of the recorded store who used the facade, and the one who did not. */
const FACADE_TRADER = '0x4BCA5Ce7Fe2e5B9BF7CD90d35a9B04f29Fb0cf93' as Address
const TRADER = '0x8e32e79781136104B0DABBa623660D0AB79875E5' as Address

const own = (trader: Address) => ({ chain: CHAIN, trader, cursor: undefined, limit: 9 }) as const

/** The fields that entries did not have. */
const NEW_FIELDS = {
  orderId: null,
  clientId: null,
  collateralSymbol: null,
  feeCollateral: null,
  fundingFee: null,
  borrowingFee: null,
  deposit: null,
  payout: null,
  forfeited: null,
  netPnl: null,
} satisfies Partial<FillHistoryEntry>

describe('a store that the code before entries had amounts wrote', () => {
  let opened: TestStore
  /** Its entries of a trader as they were, newest first. */
  let before: (trader: Address) => object[]

  beforeEach(async () => {
    opened = openSqliteTestStore()
    const database = new DatabaseSync(opened.file)
    database.exec(STORE)
    const rows = database.prepare('select trader, body from fills order by block_number desc').all() as {
      trader: Address
      body: string
    }[]
    database.close()
    before = (trader) => rows.filter((row) => row.trader === trader).map(({ body }) => JSON.parse(body) as object)
    await migrate(opened.store)
  })
  afterEach(() => opened.remove())

  it('is brought to the present version, once', async () => {
    const row = await opened.store.read.get<{ version: bigint }>('select version from schema_version')
    assert.equal(row?.version, BigInt(MIGRATIONS.length))
    await migrate(await opened.reopen())
    assert.equal((await listFills(opened.store.read, own(TRADER))).length, before(TRADER).length)
  })

  it('has entries with null in the new fields, and the old ones as they were', async () => {
    for (const trader of [TRADER, FACADE_TRADER]) {
      const fills = (await listFills(opened.store.read, own(trader))).map(({ fill }) => fill)
      assert.deepEqual(
        fills,
        before(trader).map((fill) => ({ ...fill, ...NEW_FIELDS })),
      )
      for (const fill of fills) assert.ok(Value.Check(FillHistoryEntrySchema, fill))
    }
    assert.equal(before(TRADER).length, 5)
  })

  it('still tells the orders of such entries to the facade, and shows them on the tape', async () => {
    const ids = (await listFills(opened.store.read, own(FACADE_TRADER))).map(({ fill }) => fill.id)
    const found = await readOrderFills(opened.store.read, ids)
    assert.deepEqual(
      ids.map((id) => [found.get(id)?.order?.id, found.get(id)?.order?.amounts?.feeCollateral]),
      [
        ['6', '1.080216'],
        ['1', '1.80036'],
      ],
    )
    const pair = { chain: CHAIN, pairIndex: 0, cursor: undefined, limit: 9 } as const
    assert.equal((await listPairFills(opened.store.read, pair)).length, 7)
  })

  it('keeps the ids of take profits and stop losses, also former ones', async () => {
    const idsIn = async (table: string): Promise<string[]> => {
      const sql = `select oid, position_id, kind from ${table} order by oid`
      const rows = await opened.store.read.all<{ oid: bigint; position_id: bigint; kind: string }>(sql)
      return rows.map(({ oid, position_id, kind }) => `${oid} ${kind} of ${position_id}`)
    }
    assert.deepEqual(await idsIn('facade_triggers'), ['9 tp of 7', '10 tp of 2', '11 sl of 7', '12 sl of 2'])
    assert.deepEqual(await idsIn('facade_former_triggers'), ['4 tp of 2', '5 sl of 2'])
  })

  it('names the order of entries from then on, also of one that was found to be another', async () => {
    const blockHash = `0x${'05'.repeat(32)}` as Hex
    const place = { blockHash, blockNumber: 500, logIndex: 4, txHash: blockHash, timestampMs: 1 }
    await opened.store.transaction(TEST_SCOPE, async (sql) => {
      const fill = sampleFill(700, { action: 'TradeOpenRefused', positionId: '99' })
      await insertFill(sql, { chain: CHAIN, trader: TRADER, pairIndex: 0, place, fill })
      await sql.run(
        `insert into order_events (chain, block_hash, log_index, block_number, order_id, trader, handle, body)
         values ($1, $2, 4, 500, 14, $3, null, '{}')`,
        CHAIN,
        blockHash,
        TRADER,
      )
    })
    const [refused] = await listFills(opened.store.read, own(TRADER))
    assert.deepEqual([refused?.fill.orderId, refused?.fill.clientId, refused?.fill.positionId], ['14', 'first', '14'])
  })
})
