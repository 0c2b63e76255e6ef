import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import type { FillHistoryEntry, Hex } from '@bezel/protocol'
import { parseUnits } from 'viem'
import { insertFill } from '../store/fillStore.ts'
import { sampleFill } from '../store/testing/sampleFill.ts'
import { answerInfo } from './info/infoTypes.ts'
import { ALICE, createFacadeWorld, DIAMOND, type FacadeWorld } from './testing/facadeWorld.ts'
import { TEST_SCOPE } from '../store/testing/testScope.ts'

const HASH = `0x${'cd'.repeat(32)}`

/** A liquidation of 100 USDC that had paid an opening fee of 0.75 and forfeited 14.25. */
const LIQUIDATION: Partial<FillHistoryEntry> = {
  action: 'TradeClosedLIQ',
  pnl: '-75',
  feeCollateral: '10',
  fundingFee: '-0.5',
  borrowingFee: '0.5',
  deposit: '0',
  payout: '0',
  forfeited: '14.25',
  netPnl: '-99.25',
}

const LEVERAGE_UPDATE: Partial<FillHistoryEntry> = {
  action: 'TradeLeverageUpdate',
  feeCollateral: '0.091875',
  borrowingFee: '0',
  netPnl: '-0.091875',
  deposit: '50',
}

const REFUSED_OPEN: Partial<FillHistoryEntry> = {
  action: 'TradeOpenRefused',
  size: '0',
  feeCollateral: '0.091875',
  netPnl: '-0.091875',
  deposit: '100',
  payout: '99.908125',
}

const REFUSED_UPDATE: Partial<FillHistoryEntry> = {
  ...REFUSED_OPEN,
  action: 'TradeUpdateRefused',
  fundingFee: '0.01',
  borrowingFee: '0.02',
  netPnl: '-0.121875',
}

const PARTIAL_CLOSE: Partial<FillHistoryEntry> = {
  action: 'TradePosSizeDecrease',
  pnl: '5',
  feeCollateral: '0.375',
  fundingFee: '0.25',
  borrowingFee: '-0.05',
  netPnl: '4.425',
  deposit: '0',
  payout: '54.15',
}

describe('fills, fundings and ledger of the facade', () => {
  let world: FacadeWorld
  let nextId = 1

  beforeEach(async () => {
    world = await createFacadeWorld()
    nextId = 1
  })
  afterEach(() => world.opened.remove())

  const ask = async (type: string, fields: object = {}) =>
    JSON.parse(String(await answerInfo({ type, user: ALICE, ...fields }, world.reads)))

  async function store(...entries: Partial<FillHistoryEntry>[]): Promise<void> {
    for (const changes of entries) {
      const id = nextId++
      const blockHash = `0x${id.toString(16).padStart(64, '0')}` as Hex
      const place = { blockHash, blockNumber: id, logIndex: 0, txHash: HASH as Hex, timestampMs: 1_000 + id }
      const fill = sampleFill(id, changes)
      await world.opened.store.transaction(TEST_SCOPE, (sql) =>
        insertFill(sql, { chain: 'base', trader: ALICE, pairIndex: 0, place, fill }),
      )
    }
  }

  it('tell a profit and its fee by the fill, and holding fees by a funding', async () => {
    await store({}, PARTIAL_CLOSE)
    const [closed, opened] = await ask('userFills')
    assert.deepEqual([opened.closedPnl, opened.fee, opened.feeToken], ['0.0', '0.9', 'USDC'])
    assert.deepEqual([closed.closedPnl, closed.fee], ['5.0', '0.375'])
    assert.deepEqual(await ask('userFunding'), [
      {
        tid: 2,
        time: 1_002,
        hash: HASH,
        delta: {
          type: 'funding',
          coin: 'BTC',
          usdc: '-0.2',
          szi: '0.1',
          fundingRate: '0.0',
          nSamples: null,
          token: 'USDC',
        },
      },
    ])
    assert.deepEqual(await ask('userNonFundingLedgerUpdates'), [])
  })

  it('tell refusals, changes of leverage and what was forfeited by the ledger, as transfers to the contracts', async () => {
    await store({}, REFUSED_OPEN, LEVERAGE_UPDATE, LIQUIDATION, { ...LIQUIDATION, forfeited: '-3', netPnl: '-82' })
    const [user, diamond] = [ALICE.toLowerCase(), DIAMOND.toLowerCase()]
    const updates = await ask('userNonFundingLedgerUpdates')
    const transfer = { type: 'internalTransfer', user, destination: diamond, fee: '0.0', token: 'USDC' }
    assert.deepEqual(
      updates.map(({ delta }: { delta: object }) => delta),
      [
        { ...transfer, usdc: '0.091875' },
        { ...transfer, usdc: '0.091875' },
        { ...transfer, usdc: '14.25' },
        { ...transfer, usdc: '3.0', user: diamond, destination: user },
      ],
    )
    assert.equal((await ask('userFills')).length, 3)
  })

  it('add up to the netPnl of the native history, and never tell anything twice', async () => {
    const entries = [{}, PARTIAL_CLOSE, REFUSED_OPEN, REFUSED_UPDATE, LEVERAGE_UPDATE, LIQUIDATION]
    await store(...entries)
    const units = (text: string): bigint => parseUnits(text, 6)
    const fills = (await ask('userFills')) as { closedPnl: string; fee: string }[]
    const fundings = (await ask('userFunding')) as { delta: { usdc: string } }[]
    const updates = (await ask('userNonFundingLedgerUpdates')) as { delta: { usdc: string; user: string } }[]
    const sum = [
      ...fills.map(({ closedPnl, fee }) => units(closedPnl) - units(fee)),
      ...fundings.map(({ delta }) => units(delta.usdc)),
      ...updates.map(({ delta }) => units(delta.usdc) * (delta.user === ALICE.toLowerCase() ? -1n : 1n)),
    ].reduce((total, amount) => total + amount)
    const native = entries.map(({ netPnl }) => units(netPnl ?? '-0.9')).reduce((total, amount) => total + amount)
    assert.equal(sum, native)
  })

  it('are those between two times, oldest first', async () => {
    await store(PARTIAL_CLOSE, PARTIAL_CLOSE, PARTIAL_CLOSE, REFUSED_OPEN)
    const timesOf = async (fields: object) =>
      (await ask('userFunding', fields)).map(({ time }: { time: number }) => time)
    assert.deepEqual(await timesOf({}), [1_001, 1_002, 1_003])
    assert.deepEqual(await timesOf({ startTime: 1_002, endTime: 1_002 }), [1_002])
    assert.deepEqual(await timesOf({ startTime: 1_004 }), [])
    assert.deepEqual(await ask('userNonFundingLedgerUpdates', { endTime: 1_003 }), [])
  })

  it('say nothing of entries from before there were amounts', async () => {
    const unknown = { feeCollateral: null, fundingFee: null, borrowingFee: null, netPnl: null, collateralSymbol: null }
    await store({ ...unknown, deposit: null, payout: null, forfeited: null })
    assert.deepEqual([await ask('userFunding'), await ask('userNonFundingLedgerUpdates')], [[], []])
    assert.equal((await ask('userFills'))[0].fee, '0.0')
  })
})
