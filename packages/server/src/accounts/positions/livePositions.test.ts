import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { Usd, type Address, type OrderId } from '@bezel/protocol'
import { insertOrder } from '../../store/orderStore.ts'
import { migrate } from '../../store/openStore.ts'
import {
  insertPosition,
  listOpenPositionsOf,
  listOpenPositionTexts,
  savePositionState,
} from '../../store/positionStore.ts'
import type { Sql, SqlValue } from '../../store/sql.ts'
import { ON_SQLITE, openTestStore, type TestStore } from '../../store/testing/testStore.ts'
import type { PositionRecord, PositionState } from '../../trading/positions/positionModel.ts'
import { POSITION } from '../../trading/valuation/testing/fixtures.ts'
import { createDueTerms } from './dueTerms.ts'
import { createKnownTerms } from './traderTerms.ts'
import { openLivePositions, type LivePositions } from './livePositions.ts'
import { TEST_SCOPE } from '../../store/testing/testScope.ts'

const ALICE = `0x${'aa'.repeat(20)}` as Address
const BOB = `0x${'bb'.repeat(20)}` as Address
const { trade, info, liquidationParams, feesData } = POSITION
const OPEN: PositionState = {
  isOpen: true,
  trade,
  info,
  liquidationParams,
  feesData,
  maxClosingSlippageP: 0,
  pendingUpdate: null,
  oldBorrowing: null,
  updateRefusal: null,
  openedAtBlock: 1,
  openedAtMs: 1,
  updatedAtMs: 1,
}
const CLOSED: PositionState = { ...OPEN, isOpen: false }

function recordOf(id: number, trader: Address, chain: PositionRecord['chain'] = 'base'): PositionRecord {
  return { id: String(id) as OrderId, chain, trader, originOrderId: String(id) as OrderId }
}

const idsOf = (live: LivePositions, trader: Address): string[] => live.ofTrader(trader).map(({ record }) => record.id)

describe('live positions', () => {
  let opened: TestStore
  before(async () => {
    opened = openTestStore()
    await migrate(opened.store)
    const stored: [number, Address, PositionRecord['chain'], PositionState | undefined][] = [
      [10, ALICE, 'base', OPEN],
      [9, ALICE, 'base', OPEN],
      [11, BOB, 'base', OPEN],
      [12, ALICE, 'base', CLOSED],
      [13, ALICE, 'base', undefined],
      [14, ALICE, 'arbitrum', OPEN],
    ]
    await opened.store.transaction(TEST_SCOPE, async (sql) => {
      for (const [id, trader, chain, state] of stored) {
        const record = recordOf(id, trader, chain)
        const order = {
          id: record.id,
          chain,
          trader,
          agent: null,
          createdAtMs: 1,
          originKey: `tx:${id}`,
          spendUsd: Usd.zero,
        }
        await insertOrder(sql, { ...order, request: { clientId: null } as never })
        await insertPosition(sql, record)
        await savePositionState(sql, record.id, state)
      }
    })
  })
  after(() => opened.remove())

  it('starts with what is open on the chain, oldest first', async () => {
    const live = await openLivePositions(
      opened.store,
      'base',
      createKnownTerms(() => 1),
    )
    assert.equal(live.size, 3)
    assert.deepEqual(idsOf(live, ALICE), ['9', '10'])
    assert.deepEqual(idsOf(live, BOB), ['11'])
    assert.deepEqual(live.find('9' as OrderId)?.state, OPEN)
    assert.equal(live.find('14' as OrderId), undefined, 'of another chain')
  })

  it('follows what opens, changes, closes and is undone', async () => {
    const live = await openLivePositions(
      opened.store,
      'base',
      createKnownTerms(() => 1),
    )
    const [nine, five, eleven] = [recordOf(9, ALICE), recordOf(5, ALICE), recordOf(11, BOB)]
    live.apply([{ record: five, after: OPEN }])
    assert.deepEqual(idsOf(live, ALICE), ['5', '9', '10'], 'ids are numbers: 10 is after 9')

    const resized: PositionState = { ...OPEN, trade: { ...trade, leverage: 20_000 } }
    live.apply([{ record: nine, after: resized }])
    assert.deepEqual(idsOf(live, ALICE), ['5', '9', '10'])
    assert.equal(live.find(nine.id)?.state, resized)

    live.apply([
      { record: nine, after: CLOSED },
      { record: five, after: undefined },
      { record: eleven, after: CLOSED },
    ])
    assert.deepEqual(idsOf(live, ALICE), ['10'])
    assert.deepEqual(idsOf(live, BOB), [])
    assert.equal(live.find(nine.id), undefined)
    assert.equal(live.size, 1)

    live.apply([{ record: nine, after: resized }])
    assert.deepEqual(idsOf(live, ALICE), ['9', '10'], 'its close was undone')
  })

  it('keeps the array of a trader until one of its positions changes', async () => {
    const live = await openLivePositions(
      opened.store,
      'base',
      createKnownTerms(() => 1),
    )
    const [alice, bob] = [live.ofTrader(ALICE), live.ofTrader(BOB)]
    live.apply([{ record: recordOf(9, ALICE), after: { ...OPEN, updatedAtMs: 2 } }])
    assert.equal(live.ofTrader(BOB), bob)
    assert.notEqual(live.ofTrader(ALICE), alice)
    assert.deepEqual(idsOf(live, ALICE), ['9', '10'])
  })

  it('gives each position the terms of its trader in its pair, and replaces those whose terms change', async () => {
    const terms = createKnownTerms(() => 1)
    const live = await openLivePositions(opened.store, 'base', terms)
    const own = { cumulVolPriceImpactMultiplier: 700, fixedSpreadP: 30 }
    const spreads = (): unknown => live.ofTrader(ALICE).map((position) => position.terms?.fixedSpreadP)
    const [alice, bob] = [live.ofTrader(ALICE), live.ofTrader(BOB)]
    terms.learn(ALICE, trade.pairIndex + 1, own)
    terms.learn(ALICE, trade.pairIndex, { cumulVolPriceImpactMultiplier: 0, fixedSpreadP: 0 })
    assert.equal(live.ofTrader(ALICE), alice, 'nothing has changed for them')

    terms.learn(ALICE, trade.pairIndex, own)
    assert.deepEqual(spreads(), [30, 30])
    assert.equal(live.ofTrader(BOB), bob)
    assert.equal(live.find('9' as OrderId), live.ofTrader(ALICE)[0])
    live.apply([{ record: recordOf(5, ALICE), after: OPEN }])
    assert.deepEqual(spreads(), [30, 30, 30])
    assert.equal([...live.active()].length, 4)
  })

  it('reads them along indices: page by page, and those of one trader', ON_SQLITE, async () => {
    const { read } = opened.store
    const plans: string[] = []
    const explaining: Sql = {
      ...read,
      async all<Row>(statement: Parameters<Sql['all']>[0], ...params: readonly SqlValue[]) {
        const rows = await read.all<{ detail: string }>(`explain query plan ${String(statement)}`, ...params)
        plans.push(...rows.map(({ detail }) => detail))
        return [] as Row[]
      },
    }
    await listOpenPositionTexts(explaining, 'base', { afterId: '0' as OrderId, limit: 1 })
    assert.match(plans.join(), /^SEARCH positions USING INDEX positions_open_by_id \(chain=\? AND id>\?\)$/)
    plans.length = 0
    await listOpenPositionsOf(explaining, 'base', ALICE)
    assert.match(plans[0]!, /^SEARCH positions USING INDEX positions_by_trade \(chain=\? AND trader=\?\)$/)
  })

  it('reads them again', async () => {
    const live = await openLivePositions(
      opened.store,
      'base',
      createKnownTerms(() => 1),
    )
    live.apply([{ record: recordOf(5, BOB), after: OPEN }])
    await live.reload()
    assert.deepEqual([idsOf(live, ALICE), idsOf(live, BOB), live.size], [['9', '10'], ['11'], 3])
  })

  describe('of more traders than are active', () => {
    const CAROL = `0x${'cc'.repeat(20)}` as Address
    const terms = createKnownTerms(() => 1)
    /** Opens the positions of which one is ready for use, or two when they are of one trader. */
    const openFew = (): Promise<LivePositions> => openLivePositions(opened.store, 'base', terms, 1)
    const activeIds = (live: LivePositions): string[] => [...live.active()].map(({ record }) => record.id)

    it('are all there, and those are active who were asked for last', async () => {
      const live = await openFew()
      assert.deepEqual([live.size, activeIds(live)], [3, ['9', '10']])
      assert.deepEqual(live.find('11' as OrderId)?.state, OPEN)
      assert.deepEqual(activeIds(live), ['11'])
      assert.deepEqual(idsOf(live, ALICE), ['9', '10'])
      assert.deepEqual(live.ofTrader(ALICE)[0], { record: recordOf(9, ALICE), state: OPEN, terms: terms.of(ALICE, 0) })
      assert.deepEqual([live.size, activeIds(live)], [3, ['9', '10']])
      assert.equal(live.ofTrader(ALICE), live.ofTrader(ALICE))
    })

    it('follow what opens, changes and closes', async () => {
      const live = await openFew()
      const resized: PositionState = { ...OPEN, trade: { ...trade, leverage: 20_000 }, pendingUpdate: null }
      live.apply([
        { record: recordOf(11, BOB), after: resized },
        { record: recordOf(20, CAROL), after: OPEN },
        { record: recordOf(9, ALICE), after: CLOSED },
        { record: recordOf(12, BOB), after: OPEN },
      ])
      assert.equal(live.size, 4)
      assert.deepEqual(
        [ALICE, BOB, CAROL].map((trader) => idsOf(live, trader)),
        [['10'], ['11', '12'], ['20']],
      )
      assert.deepEqual(live.find('11' as OrderId)?.state, resized)
      live.apply([{ record: recordOf(20, CAROL), after: undefined }])
      assert.deepEqual([idsOf(live, CAROL), live.find('20' as OrderId), live.size], [[], undefined, 3])
    })

    it('have terms that are due once a day, without becoming active', async () => {
      const live = await openFew()
      let nowMs = 0
      const known = createKnownTerms(() => nowMs)
      const due = createDueTerms({ positions: live, terms: known, now: () => nowMs })
      const pairOf = (trader: Address) => ({ trader, pairIndex: trade.pairIndex })
      assert.deepEqual(await due(), [pairOf(ALICE), pairOf(BOB)])
      known.learn(ALICE, trade.pairIndex, { cumulVolPriceImpactMultiplier: 0, fixedSpreadP: 0 })
      assert.deepEqual(await due(), [])
      nowMs += 3_600_000
      assert.deepEqual(await due(), [pairOf(ALICE)], 'an active one is due each hour')
      nowMs += 23 * 3_600_000
      assert.deepEqual(await due(), [pairOf(ALICE), pairOf(BOB)])
      assert.deepEqual(activeIds(live), ['9', '10'])
    })

    it('have the terms of their traders when they are active again', async () => {
      const live = await openFew()
      terms.learn(BOB, trade.pairIndex, { cumulVolPriceImpactMultiplier: 700, fixedSpreadP: 30 })
      assert.deepEqual(activeIds(live), ['9', '10'], 'nobody asked for the others')
      assert.equal(live.ofTrader(BOB)[0]?.terms?.fixedSpreadP, 30)
    })
  })

  it('leaves alone what other chains do', async () => {
    const live = await openLivePositions(
      opened.store,
      'base',
      createKnownTerms(() => 1),
    )
    live.apply([{ record: recordOf(14, ALICE, 'arbitrum'), after: OPEN }])
    assert.equal(live.size, 3)
  })
})
