import { CollateralAmount, type Hex, POSITION_UPDATE_KINDS, Price, TokenSize } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { LIQUIDATION, POSITION, price, TRADE, usdc } from '../valuation/testing/fixtures.ts'
import { foldForward, foldPosition } from './foldPosition.ts'
import type { PositionEvent, PositionState, WaitingUpdate } from './positionModel.ts'

type Kind = PositionEvent['kind']
type Body = PositionEvent extends infer Event
  ? Event extends PositionEvent
    ? Omit<Event, keyof typeof PLACE>
    : never
  : never

const PLACE = { blockNumber: 0, blockHash: '0x' as Hex, logIndex: 0, txHash: '0x' as Hex, timestampMs: 0 }
const BLOCK = 1_000

function at(block: number, log: number, body: Body): PositionEvent {
  return { ...PLACE, blockNumber: block, logIndex: log, timestampMs: block * 250, ...body }
}

const { info } = POSITION
const OPENED: Body = { kind: 'opened', trade: TRADE, info, liquidationParams: LIQUIDATION, maxClosingSlippageP: 0 }
const STARTED: Body = { kind: 'holdingFeesStarted', initialAccFundingFeeP: -7n, initialAccBorrowingFeeP: 9n }
const CHARGED: Body = {
  kind: 'realized',
  realizedTradingFeesCollateral: usdc(3),
  realizedPnlCollateral: CollateralAmount.zero,
}
const RENEWED = { ...LIQUIDATION, maxLiqSpreadP: 1 }

/**
 * The events of a market open, in the order in which the contracts log them: the stored trade, the start of its holding
 * fees, the opening fee.
 */
const OPENING = [at(BLOCK, 2, OPENED), at(BLOCK, 5, STARTED), at(BLOCK, 9, CHARGED)]

const FEES = {
  realizedTradingFeesCollateral: usdc(4),
  realizedPnlCollateral: CollateralAmount.of(-usdc(2)),
  initialAccFundingFeeP: 21n,
  initialAccBorrowingFeeP: 22n,
}
const FOUND: Body = {
  kind: 'adopted',
  trade: TRADE,
  info,
  liquidationParams: LIQUIDATION,
  feesData: FEES,
  oldBorrowing: { accPairFee: 1n, accGroupFee: 2n, block: 800 },
  maxClosingSlippageP: 30,
  createdBlock: 900,
  update: { pendingIndex: 4, update: 'leverage', leverage: 5_000, collateralAmount: usdc(7), createdBlock: 950 },
}

function resize(renewed: boolean): Body {
  return {
    kind: 'resized',
    collateralAmount: usdc(40),
    leverage: 12_345,
    openPrice: price(101),
    sl: price(90),
    positionSizeToken: TokenSize.of(77n),
    renewedLiquidationParams: renewed ? RENEWED : null,
  }
}

function fold(...events: readonly PositionEvent[]): PositionState {
  const state = foldPosition(events)
  assert.ok(state !== undefined)
  return state
}

describe('a position', () => {
  it('does not exist before it is opened', () => {
    assert.equal(foldPosition([]), undefined)
    assert.equal(foldPosition([at(BLOCK, 5, STARTED), at(BLOCK, 9, CHARGED)]), undefined)
    assert.equal(foldPosition([at(BLOCK, 1, { kind: 'closed' })]), undefined)
  })

  it('is what was stored, with fees from zero', () => {
    assert.deepEqual(fold(at(BLOCK, 2, OPENED)), {
      isOpen: true,
      trade: TRADE,
      info,
      liquidationParams: LIQUIDATION,
      feesData: {
        realizedTradingFeesCollateral: 0n,
        realizedPnlCollateral: 0n,
        initialAccFundingFeeP: 0n,
        initialAccBorrowingFeeP: 0n,
      },
      maxClosingSlippageP: 0,
      pendingUpdate: null,
      oldBorrowing: null,
      updateRefusal: null,
      openedAtBlock: BLOCK,
      openedAtMs: BLOCK * 250,
      updatedAtMs: BLOCK * 250,
    })
  })

  it('has been charged and owes from its opening on', () => {
    assert.deepEqual(fold(...OPENING).feesData, {
      realizedTradingFeesCollateral: usdc(3),
      realizedPnlCollateral: 0n,
      initialAccFundingFeeP: -7n,
      initialAccBorrowingFeeP: 9n,
    })
  })

  it('loses nothing that is logged before it is stored', () => {
    const early = [at(BLOCK, 0, STARTED), at(BLOCK, 1, CHARGED), at(BLOCK, 2, OPENED)]
    assert.deepEqual(fold(...early), fold(...OPENING))
  })

  it('keeps what an event does not tell', () => {
    const holding: Body = {
      kind: 'realized',
      realizedTradingFeesCollateral: null,
      realizedPnlCollateral: CollateralAmount.of(-5n),
    }
    const fees: Body = { kind: 'realized', realizedTradingFeesCollateral: usdc(4), realizedPnlCollateral: null }
    const state = fold(...OPENING, at(BLOCK + 1, 0, holding), at(BLOCK + 1, 1, fees))
    assert.equal(state.feesData.realizedPnlCollateral, -5n)
    assert.equal(state.feesData.realizedTradingFeesCollateral, usdc(4))
    assert.equal(state.feesData.initialAccFundingFeeP, -7n)
  })

  it('takes the whole record that a partial close leaves, whatever was added up before', () => {
    const feesData = {
      realizedTradingFeesCollateral: usdc(1.5),
      realizedPnlCollateral: CollateralAmount.of(-3n),
      initialAccFundingFeeP: 11n,
      initialAccBorrowingFeeP: 12n,
    }
    const charged = { ...CHARGED, realizedTradingFeesCollateral: usdc(9) } as Body
    const left = at(BLOCK + 1, 2, { kind: 'feesDownscaled', feesData })
    const state = fold(...OPENING, at(BLOCK + 1, 0, charged), at(BLOCK + 1, 1, resize(false)), left)
    assert.deepEqual(state.feesData, feesData)
    assert.deepEqual(fold(...OPENING, at(BLOCK + 1, 0, charged)).feesData.realizedTradingFeesCollateral, usdc(9))
  })

  it('owes first-generation borrowing from the block in which that was last settled', () => {
    assert.equal(fold(...OPENING).oldBorrowing, null)
    const settled = (block: number, fee: bigint): PositionEvent =>
      at(block, 20, { kind: 'oldBorrowingStarted', accPairFee: fee, accGroupFee: fee + 1n })
    const state = fold(...OPENING, settled(BLOCK, 5n), settled(BLOCK + 4, 8n))
    assert.deepEqual(state.oldBorrowing, { accPairFee: 8n, accGroupFee: 9n, block: BLOCK + 4 })
  })

  it('takes a new take profit and stop loss', () => {
    const tp: Body = { kind: 'tpUpdated', tp: price(120) }
    const state = fold(...OPENING, at(BLOCK + 1, 0, tp), at(BLOCK + 1, 1, { kind: 'slUpdated', sl: Price.zero }))
    assert.deepEqual(state.trade, { ...TRADE, tp: price(120), sl: 0n })
    assert.equal(state.updatedAtMs, (BLOCK + 1) * 250)
    assert.equal(state.openedAtMs, BLOCK * 250)
  })

  it('shrinks: the liquidation parameters and the block of its last increase stay', () => {
    const state = fold(...OPENING, at(BLOCK + 3, 0, resize(false)))
    assert.deepEqual(state.trade, {
      ...TRADE,
      collateralAmount: usdc(40),
      leverage: 12_345,
      openPrice: price(101),
      sl: price(90),
      positionSizeToken: 77n,
    })
    assert.deepEqual(state.liquidationParams, LIQUIDATION)
    assert.deepEqual(state.info, info)
  })

  it('grows: both are renewed', () => {
    const state = fold(...OPENING, at(BLOCK + 3, 0, resize(true)))
    assert.equal(state.trade.positionSizeToken, 77n)
    assert.deepEqual(state.liquidationParams, RENEWED)
    assert.deepEqual(state.info, { ...info, lastPosIncreaseBlock: BLOCK + 3 })
    const after = fold(...OPENING, at(BLOCK + 3, 0, resize(true)), at(BLOCK + 4, 0, resize(false)))
    assert.deepEqual([after.liquidationParams, after.info], [state.liquidationParams, state.info])
  })

  it('follows an increase as the contracts log it: fees realised and restarted, resized, charged', () => {
    const block = BLOCK + 8
    const state = fold(
      ...OPENING,
      at(block, 1, {
        kind: 'realized',
        realizedTradingFeesCollateral: null,
        realizedPnlCollateral: CollateralAmount.of(-usdc(1)),
      }),
      at(block, 2, { kind: 'holdingFeesStarted', initialAccFundingFeeP: 11n, initialAccBorrowingFeeP: 12n }),
      at(block, 3, resize(true)),
      at(block, 4, {
        kind: 'realized',
        realizedTradingFeesCollateral: usdc(5),
        realizedPnlCollateral: CollateralAmount.of(-usdc(1)),
      }),
    )
    assert.deepEqual(state.feesData, {
      realizedTradingFeesCollateral: usdc(5),
      realizedPnlCollateral: -usdc(1),
      initialAccFundingFeeP: 11n,
      initialAccBorrowingFeeP: 12n,
    })
    assert.equal(state.trade.leverage, 12_345)
  })

  it('changes its collateral alone', () => {
    const state = fold(
      ...OPENING,
      at(BLOCK + 1, 0, { kind: 'collateralUpdated', collateralAmount: CollateralAmount.of(1n) }),
    )
    assert.deepEqual(state.trade, { ...TRADE, collateralAmount: 1n })
  })

  it('keeps the closing slippage that was last set, also when it is resized', () => {
    const set = (log: number, maxSlippageP: number) =>
      at(BLOCK + 1, log, { kind: 'closingSlippageUpdated', maxSlippageP })
    const state = fold(...OPENING, set(0, 20_000), set(1, 5), at(BLOCK + 2, 0, resize(false)))
    assert.equal(state.maxClosingSlippageP, 5)
    const { maxClosingSlippageP: _, updatedAtMs, ...rest } = fold(...OPENING, set(0, 5))
    const { maxClosingSlippageP: none, updatedAtMs: before, ...same } = fold(...OPENING)
    assert.deepEqual([rest, none], [same, 0])
    assert.ok(updatedAtMs > before)
    assert.equal(fold(at(BLOCK, 2, { ...OPENED, maxClosingSlippageP: 300 } as Body)).maxClosingSlippageP, 300)
  })

  it('is closed, and known as it was then', () => {
    const state = fold(...OPENING, at(BLOCK + 9, 0, { kind: 'closed' }))
    assert.equal(state.isOpen, false)
    assert.deepEqual(state.trade, { ...TRADE, isOpen: false })
    assert.equal(state.updatedAtMs, (BLOCK + 9) * 250)
  })

  it('that was found on the chain is what was found, from that block on', () => {
    const state = fold(at(BLOCK, -9, FOUND))
    assert.deepEqual(state.trade, TRADE)
    assert.deepEqual(state.feesData, FEES)
    assert.deepEqual(state.oldBorrowing, { accPairFee: 1n, accGroupFee: 2n, block: 800 })
    assert.deepEqual([state.openedAtBlock, state.openedAtMs, state.isOpen], [900, BLOCK * 250, true])
    assert.equal(state.pendingUpdate?.createdBlock, 950)
    assert.deepEqual([state.pendingUpdate.createdAtMs, state.pendingUpdate.attemptId], [BLOCK * 250, null])
    const ended = fold(at(BLOCK, -9, FOUND), at(BLOCK + 1, 0, { kind: 'updateEnded', pendingIndex: 4 }))
    assert.equal(ended.pendingUpdate, null)
  })

  it('that is read again is opened when it was, and keeps the transaction of its pending change', () => {
    const asked: Body = {
      kind: 'updateRequested',
      pendingIndex: 4,
      update: 'collateral',
      leverage: 5_000,
      collateralAmount: usdc(7),
      attemptId: '0x0102030405060708' as Hex,
    }
    const before = fold(...OPENING, at(BLOCK + 1, 0, asked))
    const after = fold(...OPENING, at(BLOCK + 1, 0, asked), at(BLOCK + 2, -9, FOUND))
    assert.deepEqual(after.pendingUpdate, before.pendingUpdate)
    assert.deepEqual([after.openedAtBlock, after.openedAtMs], [BLOCK, BLOCK * 250])
    assert.deepEqual(after.feesData, FEES)
    const closed = at(BLOCK + 1, 5, { kind: 'closed' })
    assert.equal(fold(...OPENING, closed, at(BLOCK + 2, -9, FOUND)).isOpen, true)
  })

  it('opens and closes in one block', () => {
    const state = fold(...OPENING, at(BLOCK, 20, { kind: 'closed' }))
    assert.equal(state.isOpen, false)
    assert.equal(state.openedAtBlock, BLOCK)
  })
})

describe('the fold of a position, over random histories', () => {
  const amount = fc.bigInt(0n, 10n ** 18n)
  const bodies: fc.Arbitrary<Body> = fc.oneof(
    amount.map((n): Body => ({ kind: 'holdingFeesStarted', initialAccFundingFeeP: -n, initialAccBorrowingFeeP: n })),
    amount.map((n): Body => ({ kind: 'oldBorrowingStarted', accPairFee: n, accGroupFee: n + 1n })),
    amount.map((n): Body => ({
      kind: 'feesDownscaled',
      feesData: {
        realizedTradingFeesCollateral: CollateralAmount.of(n),
        realizedPnlCollateral: CollateralAmount.of(-n),
        initialAccFundingFeeP: n,
        initialAccBorrowingFeeP: n,
      },
    })),
    fc.tuple(fc.option(amount), fc.option(amount)).map(([fees, pnl]): Body => ({
      kind: 'realized',
      realizedTradingFeesCollateral: fees === null ? null : CollateralAmount.of(fees),
      realizedPnlCollateral: pnl === null ? null : CollateralAmount.of(pnl),
    })),
    amount.map((tp): Body => ({ kind: 'tpUpdated', tp: Price.of(tp) })),
    amount.map((sl): Body => ({ kind: 'slUpdated', sl: Price.of(sl) })),
    amount.map((collateralAmount): Body => ({
      kind: 'collateralUpdated',
      collateralAmount: CollateralAmount.of(collateralAmount),
    })),
    fc.nat(65_535).map((maxSlippageP): Body => ({ kind: 'closingSlippageUpdated', maxSlippageP })),
    fc.tuple(fc.nat(3), fc.constantFrom(...POSITION_UPDATE_KINDS), amount).map(([pendingIndex, update, n]): Body => ({
      kind: 'updateRequested',
      pendingIndex,
      update,
      leverage: 5_000,
      collateralAmount: CollateralAmount.of(n),
      attemptId: null,
    })),
    fc.nat(3).map((pendingIndex): Body => ({ kind: 'updateRefused', pendingIndex, reason: 'MAX_LEVERAGE' })),
    fc.nat(3).map((pendingIndex): Body => ({ kind: 'updateEnded', pendingIndex })),
    fc.tuple(amount, fc.boolean()).map(([sl, renewed]): Body => ({ ...resize(renewed), sl }) as Body),
  )
  const histories = fc
    .tuple(fc.array(fc.tuple(bodies, fc.nat(3)), { maxLength: 30, size: 'max' }), fc.boolean())
    .map(([told, isClosed]) => {
      let block = BLOCK
      const events = told.map(([body, pause], index) => at((block += pause), 100 + index, body))
      return [...OPENING, ...events, ...(isClosed ? [at(block, 1_000, { kind: 'closed' })] : [])]
    })
  const last = (events: readonly PositionEvent[], ...kinds: readonly Kind[]) =>
    events.findLast(({ kind }) => kinds.includes(kind))

  it('does not depend on the order in which events are given', () => {
    const shuffled = histories.chain((events) =>
      fc.tuple(fc.constant(events), fc.shuffledSubarray(events, { minLength: events.length })),
    )
    fc.assert(fc.property(shuffled, ([events, mixed]) => assert.deepEqual(foldPosition(mixed), foldPosition(events))))
  })

  it('goes forward from any moment at which there is a position', () => {
    // Fee events may precede the opening, and the opening may be anywhere in its block.
    const openings = fc.shuffledSubarray([OPENED, STARTED, CHARGED], { minLength: 3 })
    fc.assert(
      fc.property(histories, openings, fc.nat(40), (events, opening, cut) => {
        const all = [...opening.map((body, log) => at(BLOCK, log, body)), ...events.slice(OPENING.length)]
        const before = foldPosition(all.slice(0, cut))
        fc.pre(before !== undefined)
        assert.deepEqual(all.slice(cut).reduce(foldForward, before), foldPosition(all))
      }),
    )
  })

  it('is the same from any moment on when the position is found there, but for what the chain does not keep', () => {
    fc.assert(
      fc.property(histories, fc.nat(40), (events, cut) => {
        const [before, after] = [events.slice(0, OPENING.length + cut), events.slice(OPENING.length + cut)]
        const then = fold(...before)
        fc.pre(then.isOpen)
        const { blockNumber } = before.at(-1)!
        const found = fold(at(blockNumber, -9, foundBody(then)), ...after)
        assert.deepEqual(kept(found), kept(fold(...events)))
        assert.deepEqual(fold(...before, at(blockNumber, 5_000, foundBody(then))), then)
      }),
    )
  })

  it('leaves what it is given as it is', () => {
    fc.assert(
      fc.property(histories, (events) => {
        const copy = structuredClone(events)
        foldPosition(events)
        assert.deepEqual(events, copy)
      }),
    )
  })

  it('undoes a block by folding without it, down to the opening', () => {
    fc.assert(
      fc.property(histories, fc.nat(60), (events, depth) => {
        const ancestor = BLOCK + depth
        const standing = events.filter(({ blockNumber }) => blockNumber <= ancestor)
        const undone = events.slice(standing.length)
        assert.deepEqual(foldPosition([...undone, ...standing]), foldPosition(events))
        const state = foldPosition(standing)
        assert.equal(state?.isOpen, last(standing, 'closed') === undefined)
        assert.ok(state!.updatedAtMs <= ancestor * 250)
        assert.equal(foldPosition(events.filter(({ blockNumber }) => blockNumber < BLOCK)), undefined)
      }),
    )
  })

  it('shows for each field the last that was said of it', () => {
    fc.assert(
      fc.property(histories, (events) => {
        const {
          trade,
          feesData,
          oldBorrowing,
          info: now,
          liquidationParams,
          maxClosingSlippageP,
          isOpen,
        } = fold(...events)
        const sl = last(events, 'slUpdated', 'resized') as { readonly sl: bigint } | undefined
        assert.equal(trade.sl, sl?.sl ?? TRADE.sl)
        const tp = last(events, 'tpUpdated') as { readonly tp: bigint } | undefined
        assert.equal(trade.tp, tp?.tp ?? TRADE.tp)
        const collateral = last(events, 'collateralUpdated', 'resized') as
          { readonly collateralAmount: bigint } | undefined
        assert.equal(trade.collateralAmount, collateral?.collateralAmount ?? TRADE.collateralAmount)
        const fees = last(events, 'holdingFeesStarted', 'feesDownscaled')!
        const told = 'feesData' in fees ? fees.feesData : (fees as { readonly initialAccBorrowingFeeP: bigint })
        assert.equal(feesData.initialAccBorrowingFeeP, told.initialAccBorrowingFeeP)
        const started = last(events, 'oldBorrowingStarted')
        assert.equal(oldBorrowing?.block, started?.blockNumber)
        const increase = events.findLast((event) => event.kind === 'resized' && event.renewedLiquidationParams !== null)
        assert.equal(now.lastPosIncreaseBlock, increase?.blockNumber ?? info.lastPosIncreaseBlock)
        assert.deepEqual(liquidationParams, increase === undefined ? LIQUIDATION : RENEWED)
        const slippage = last(events, 'closingSlippageUpdated') as { readonly maxSlippageP: number } | undefined
        assert.equal(maxClosingSlippageP, slippage?.maxSlippageP ?? 0)
        assert.equal(isOpen, trade.isOpen)
      }),
    )
  })
})

/** Returns the event of a position that is found as it is in this state. */
function foundBody(state: PositionState): Body {
  const { trade, info: now, liquidationParams, feesData, oldBorrowing, maxClosingSlippageP, pendingUpdate } = state
  const common = { trade, info: now, liquidationParams, feesData, oldBorrowing, maxClosingSlippageP }
  const asked = pendingUpdate && askedOf(pendingUpdate)
  return { kind: 'adopted', ...common, createdBlock: BLOCK, update: asked }
}

/** Returns a pending change as the Diamond keeps it; its amount has no sign there. */
function askedOf({ kind, pendingIndex, leverage, collateralDelta, createdBlock }: WaitingUpdate) {
  const collateralAmount = CollateralAmount.of(collateralDelta < 0n ? -collateralDelta : collateralDelta)
  return { pendingIndex, update: kind, leverage, collateralAmount, createdBlock }
}

/** Returns what the chain keeps of a position. */
function kept({ openedAtBlock: _block, openedAtMs: _at, updatedAtMs: _updated, ...state }: PositionState): object {
  const { pendingUpdate, updateRefusal: _refusal, ...rest } = state
  if (pendingUpdate === null) return { ...rest, pendingUpdate }
  const { kind, pendingIndex, createdBlock, status } = pendingUpdate
  return { ...rest, pendingUpdate: { kind, pendingIndex, createdBlock, status } }
}
