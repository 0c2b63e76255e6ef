import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CollateralAmount, FundingRateP, TokenSize, Usd, WholeCollateral } from '@bezel/protocol'
import fc from 'fast-check'
import type { MarketEvent } from '../../chain/marketEvents.ts'
import { NO_OLD_BORROWING } from '../../trading/valuation/chainState.ts'
import {
  cellKey,
  foldTraded,
  valuesUnder,
  withValues,
  type FoldSettings,
  type PairValues,
  type TradedState,
} from './foldTraded.ts'

// The meaning of the events is witnessed by the Diamond itself in follower/marketState.chain.test.ts. Here is what its
// histories do not meet, and that every change can be taken back.

const SETTINGS: FoldSettings = {
  windows: { startTs: 0, windowsDuration: 600, windowsCount: 3 },
  precisions: new Map([[1, 10n ** 6n]]),
}

const PAIR: PairValues = {
  oiLongToken: TokenSize.zero,
  oiShortToken: TokenSize.zero,
  oiLongBeforeV10Collateral: CollateralAmount.zero,
  oiShortBeforeV10Collateral: CollateralAmount.zero,
  fundingData: {
    accFundingFeeLongP: 0n,
    accFundingFeeShortP: 0n,
    lastFundingRatePerSecondP: FundingRateP.of(0),
    lastFundingUpdateTs: 0,
  },
  borrowingData: { accBorrowingFeeP: 0n, lastBorrowingUpdateTs: 0 },
  oldBorrowing: NO_OLD_BORROWING.data,
}

const GROUP = {
  data: NO_OLD_BORROWING.data,
  oi: { long: WholeCollateral.of(0), short: WholeCollateral.of(0), max: WholeCollateral.of(5) },
}

const START: TradedState = {
  pairs: new Map([0, 1].map((pairIndex) => [cellKey(1, pairIndex), PAIR])),
  groups: new Map([[cellKey(1, 1), GROUP]]),
  windows: new Map([0, 1].map((pairIndex) => [pairIndex, new Map()])),
}

function volume(pairIndex: number, windowId: number, usd: bigint, changes: object = {}): MarketEvent {
  const trader = `0x${'11'.repeat(20)}` as const
  const place = { trader, index: 0, windowsDuration: 600, pairIndex: BigInt(pairIndex), windowId: BigInt(windowId) }
  const oiWindowUpdate = { ...place, long: true, open: true, isPnlPositive: false, openInterestUsd: usd, ...changes }
  return { name: 'PriceImpactOpenInterestAdded', args: { oiWindowUpdate } }
}

function borrowed(index: number, block: number, of: 'pair' | 'group'): MarketEvent {
  const values = { currentBlock: BigInt(block), accFeeLong: BigInt(block), accFeeShort: 2n }
  return of === 'group'
    ? { name: 'BorrowingGroupAccFeesUpdated', args: { collateralIndex: 1, groupIndex: index, ...values } }
    : {
        name: 'BorrowingPairAccFeesUpdated',
        args: { collateralIndex: 1, pairIndex: index, currentPairPrice: 1n, ...values },
      }
}

const anyEvent: fc.Arbitrary<MarketEvent> = fc.oneof(
  fc.tuple(fc.nat(2), fc.nat(9), fc.bigInt(1n, 9n)).map(([pair, id, usd]) => volume(pair, id, usd)),
  fc.tuple(fc.nat(2), fc.nat(99)).map(([pair, block]) => borrowed(pair, block, 'pair')),
  fc.tuple(fc.nat(2), fc.nat(99)).map(([group, block]) => borrowed(group, block, 'group')),
)

describe('the fold of events into the state of markets', () => {
  it('can be taken back block by block, whatever the blocks were', () => {
    fc.assert(
      fc.property(fc.array(fc.array(anyEvent, { maxLength: 4 }), { maxLength: 6 }), (blocks) => {
        const states = [START]
        const undos: TradedState[] = []
        for (const events of blocks) {
          const state = states.at(-1)!
          const values = foldTraded(state, events, SETTINGS)
          undos.push(
            values === undefined
              ? { pairs: new Map(), groups: new Map(), windows: new Map() }
              : valuesUnder(state, values),
          )
          states.push(values === undefined ? state : withValues(state, values))
        }
        let state = states.at(-1)!
        for (const [at, undo] of [...undos.entries()].toReversed()) {
          state = withValues(state, undo)
          assert.deepEqual(state, states[at])
        }
      }),
    )
  })

  it('adds up volume by side and window, and forgets windows that are over', () => {
    const events = [volume(0, 4, 5n), volume(0, 4, 2n), volume(0, 4, 3n, { long: false }), volume(0, 6, 1n)]
    const after = foldTraded(START, events, SETTINGS)!
    const four = { oiLongUsd: Usd.of(7n), oiShortUsd: Usd.of(3n) }
    const six = { oiLongUsd: Usd.of(1n), oiShortUsd: Usd.zero }
    assert.deepEqual(
      after.windows,
      new Map([
        [
          0,
          new Map([
            [4, four],
            [6, six],
          ]),
        ],
      ]),
    )
    const later = foldTraded(after, [volume(0, 7, 1n)], SETTINGS)!
    assert.deepEqual([...later.windows.get(0)!.keys()], [6, 7])
  })

  it('leaves alone what is not listed, and windows of another duration', () => {
    const events = [volume(7, 4, 5n), borrowed(7, 1, 'pair'), borrowed(7, 1, 'group')]
    assert.equal(foldTraded(START, [...events, volume(0, 4, 5n, { windowsDuration: 300 })], SETTINGS), undefined)
  })

  it('reads open interest from before v10 in the scale of the collateral', () => {
    const place = { collateralIndex: 1, pairIndex: 1, long: true, increase: false, delta: 0n }
    const args = { ...place, newOiLong: 3n * 10n ** 10n, newOiShort: 5n * 10n ** 9n }
    const after = foldTraded(START, [{ name: 'BorrowingPairOiBeforeV10Updated', args }], SETTINGS)!
    const { oiLongBeforeV10Collateral, oiShortBeforeV10Collateral } = after.pairs.get(cellKey(1, 1))!
    assert.deepEqual([oiLongBeforeV10Collateral, oiShortBeforeV10Collateral], [3_000_000n, 500_000n])
  })
})
