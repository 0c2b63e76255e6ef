import { ORDER_REASONS, Price, Usd } from '@bezel/protocol'
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { foldOrder } from './foldOrder.ts'
import type { Attempt, FoldClock, OrderEvent, OrderRecord, OrderState } from './orderModel.ts'
import {
  anAttempt,
  anOrder,
  canceled,
  clockAt,
  decimal,
  executed,
  FOREIGN_ORDER,
  foundRequest,
  foundResting,
  hash,
  LIMIT_ORDER,
  MARKET_ORDER,
  placed,
  reclaimed,
  refused,
  requested,
  reverted,
  START_BLOCK,
  T0,
  TIMEOUT_BLOCKS,
  timeOfBlock,
  updated,
  VALID_MS,
} from './testing/orderHistory.ts'

const BLOCK = START_BLOCK + 1
const DUE_BLOCK = BLOCK + TIMEOUT_BLOCKS
const EXPIRY = T0 + VALID_MS
const OPEN = anAttempt(1)
const REPORTED = anAttempt(1, { submittedHash: hash(1), submittedAtMs: T0 + 500 })
const REQUESTED = requested({ block: BLOCK, n: 1 })
const PLACED = placed({ block: BLOCK, n: 1 })

/** Folds an order that must exist. */
function fold(
  record: OrderRecord,
  attempts: readonly Attempt[],
  events: readonly OrderEvent[] = [],
  clock: Partial<FoldClock> = {},
): OrderState {
  const state = foldOrder(record, attempts, events, clockAt(clock))
  assert.ok(state !== undefined)
  return state
}

/** Compares only the fields that the test names. */
function assertState(state: OrderState, expected: Partial<OrderState>): void {
  assert.deepEqual({ ...state, ...expected }, state)
}

describe('an order that is not on the chain', () => {
  it('does not exist without attempts and events', () => {
    assert.equal(foldOrder(FOREIGN_ORDER, [], [], clockAt()), undefined)
    assert.equal(foldOrder(MARKET_ORDER, [anAttempt(1, { kind: 'cancel' })], [], clockAt()), undefined)
  })

  it('is prepared until its transaction is out of date', () => {
    assert.deepEqual(fold(MARKET_ORDER, [OPEN]), {
      status: 'prepared',
      size: '0.1',
      price: null,
      sl: null,
      tp: null,
      slippage: '1',
      txHash: null,
      expiresAtMs: EXPIRY,
      fill: null,
      reason: null,
      updatedAtMs: T0,
      tradeIndex: null,
      unanswered: [],
      dueAtMs: EXPIRY,
      dueBlock: null,
      countedSinceMs: T0,
    })
    assert.equal(fold(MARKET_ORDER, [OPEN], [], { nowMs: EXPIRY - 1 }).status, 'prepared')
  })

  it('expires at that very moment', () => {
    const state = fold(MARKET_ORDER, [OPEN], [], { nowMs: EXPIRY })
    assertState(state, { status: 'expired', expiresAtMs: null, dueAtMs: null, updatedAtMs: EXPIRY, txHash: null })
    assert.deepEqual(fold(MARKET_ORDER, [OPEN], [], { nowMs: EXPIRY + 10 ** 9 }), state)
  })

  it('is pending once its hash is reported, and has until then to be mined', () => {
    assertState(fold(MARKET_ORDER, [REPORTED]), {
      status: 'pending',
      txHash: hash(1),
      expiresAtMs: EXPIRY,
      dueAtMs: EXPIRY,
      dueBlock: null,
      unanswered: [],
      updatedAtMs: T0 + 500,
    })
    assertState(fold(LIMIT_ORDER, [REPORTED]), { status: 'pending', tradeIndex: null })
  })

  it('expires with the reported hash when that was not mined', () => {
    const state = fold(MARKET_ORDER, [REPORTED], [], { nowMs: EXPIRY })
    assertState(state, { status: 'expired', txHash: hash(1), expiresAtMs: null, dueAtMs: null, updatedAtMs: EXPIRY })
  })

  it('is prepared again when the reported hash turns out to be something else', () => {
    const state = fold(MARKET_ORDER, [{ ...REPORTED, isMismatch: true }])
    assertState(state, { status: 'prepared', txHash: null, expiresAtMs: EXPIRY, dueAtMs: EXPIRY })
    const later = fold(MARKET_ORDER, [{ ...REPORTED, isMismatch: true }], [], { nowMs: EXPIRY })
    assertState(later, { status: 'expired', txHash: null })
  })

  describe('whose reported hash no node knows', () => {
    const GIVEN_UP = T0 + 10_500
    const unseen = { ...REPORTED, trustedUntilMs: GIVEN_UP }

    it('is pending for a while, then prepared with its hash shown, then expired', () => {
      const pending = fold(MARKET_ORDER, [unseen], [], { nowMs: GIVEN_UP - 1 })
      assertState(pending, { status: 'pending', txHash: hash(1), expiresAtMs: EXPIRY, dueAtMs: GIVEN_UP })
      const prepared = fold(MARKET_ORDER, [unseen], [], { nowMs: GIVEN_UP })
      assertState(prepared, {
        status: 'prepared',
        txHash: hash(1),
        expiresAtMs: EXPIRY,
        dueAtMs: EXPIRY,
        updatedAtMs: GIVEN_UP,
        countedSinceMs: T0,
      })
      assert.deepEqual(fold(MARKET_ORDER, [unseen], [], { nowMs: EXPIRY - 1 }), prepared)
      const expired = fold(MARKET_ORDER, [unseen], [], { nowMs: EXPIRY })
      assertState(expired, { status: 'expired', txHash: hash(1), updatedAtMs: EXPIRY, dueAtMs: null })
    })

    it('is pending again when a node knows it after all', () => {
      const seen = { ...REPORTED, submittedAtMs: GIVEN_UP + 900 }
      const state = fold(MARKET_ORDER, [seen], [], { nowMs: GIVEN_UP + 1_000 })
      assertState(state, { status: 'pending', txHash: hash(1), dueAtMs: EXPIRY, updatedAtMs: GIVEN_UP + 900 })
    })

    it('is on the chain when it is mined, as if nobody had doubted it', () => {
      for (const event of [REQUESTED, PLACED, reverted({ block: BLOCK, n: 1 })]) {
        const state = fold(MARKET_ORDER, [unseen], [event], { nowMs: GIVEN_UP + 1 })
        assert.deepEqual(state, fold(MARKET_ORDER, [unseen], [event]))
        assertState(state, { txHash: hash(1), dueAtMs: null, updatedAtMs: timeOfBlock(BLOCK) })
      }
    })

    it('ends when it is withdrawn, and lives when it is mined later', () => {
      const withdrawn = { ...unseen, withdrawnAtMs: GIVEN_UP + 5 }
      const state = fold(MARKET_ORDER, [withdrawn], [], { nowMs: GIVEN_UP + 6 })
      assertState(state, { status: 'expired', txHash: hash(1), updatedAtMs: GIVEN_UP + 5, dueAtMs: null })
      const late = fold(MARKET_ORDER, [withdrawn], [requested({ block: BLOCK + 20, n: 1 })], {
        nowMs: GIVEN_UP + 9_000,
      })
      assertState(late, { status: 'pending', txHash: hash(1) })
    })

    it('is never trusted beyond its expiry', () => {
      const trusting = { ...REPORTED, trustedUntilMs: EXPIRY + 1 }
      assertState(fold(MARKET_ORDER, [trusting]), { status: 'pending', dueAtMs: EXPIRY })
      assert.equal(fold(MARKET_ORDER, [trusting], [], { nowMs: EXPIRY }).status, 'expired')
    })
  })

  it('expires at once when it is withdrawn, also for a clock that is behind', () => {
    const withdrawn = { ...OPEN, withdrawnAtMs: T0 + 900 }
    for (const nowMs of [T0 + 800, T0 + 900, EXPIRY + 1]) {
      const state = fold(MARKET_ORDER, [withdrawn], [], { nowMs })
      assertState(state, { status: 'expired', updatedAtMs: T0 + 900, expiresAtMs: null, dueAtMs: null })
    }
  })
})

describe('an order that was prepared again', () => {
  const again = anAttempt(2, { createdAtMs: EXPIRY + 5_000 })
  const now = { nowMs: EXPIRY + 5_001 }

  it('goes by the newer attempt', () => {
    assertState(fold(MARKET_ORDER, [OPEN, again], [], now), {
      status: 'prepared',
      expiresAtMs: again.expiresAtMs,
      dueAtMs: again.expiresAtMs,
      updatedAtMs: again.createdAtMs,
      countedSinceMs: again.createdAtMs,
    })
    assertState(fold(MARKET_ORDER, [again, OPEN], [], { nowMs: again.expiresAtMs }), {
      status: 'expired',
      updatedAtMs: again.expiresAtMs,
    })
  })

  it('forgets the hash reported for the first, until it expires too', () => {
    assertState(fold(MARKET_ORDER, [REPORTED, again], [], now), { status: 'prepared', txHash: null })
    assertState(fold(MARKET_ORDER, [REPORTED, again], [], { nowMs: again.expiresAtMs }), {
      status: 'expired',
      txHash: hash(1),
    })
  })

  it('is pending when the second is reported', () => {
    const second = { ...again, submittedHash: hash(2), submittedAtMs: EXPIRY + 5_500 }
    assertState(fold(MARKET_ORDER, [REPORTED, second], [], now), { status: 'pending', txHash: hash(2) })
  })

  it('is on the chain by whichever was mined', () => {
    for (const n of [1, 2]) {
      const state = fold(MARKET_ORDER, [OPEN, again], [requested({ block: BLOCK, n })], now)
      assertState(state, { status: 'pending', txHash: hash(n), expiresAtMs: null, dueAtMs: null })
    }
  })

  it('of two that stand, the reported one counts', () => {
    const other = anAttempt(2, { createdAtMs: T0 + 10 })
    assertState(fold(MARKET_ORDER, [REPORTED, other]), { status: 'pending', txHash: hash(1), expiresAtMs: EXPIRY })
  })
})

describe('a market order on the chain', () => {
  it('waits for the oracle', () => {
    assertState(fold(MARKET_ORDER, [OPEN], [REQUESTED]), {
      status: 'pending',
      txHash: hash(1),
      expiresAtMs: null,
      dueAtMs: null,
      dueBlock: DUE_BLOCK,
      unanswered: [5],
      tradeIndex: null,
      updatedAtMs: timeOfBlock(BLOCK),
      countedSinceMs: T0,
    })
  })

  it('does not expire, however late it is', () => {
    assert.equal(fold(MARKET_ORDER, [OPEN], [REQUESTED], { nowMs: EXPIRY + 10 ** 9 }).status, 'pending')
  })

  it('keeps the hash that is mined, whatever was reported', () => {
    const attempt = { ...OPEN, submittedHash: hash(99), submittedAtMs: T0 + 1 }
    assert.equal(fold(MARKET_ORDER, [attempt], [REQUESTED]).txHash, hash(1))
  })

  it('is filled', () => {
    const answer = executed({ block: BLOCK + 4 })
    assertState(fold(MARKET_ORDER, [OPEN], [REQUESTED, answer]), {
      status: 'filled',
      fill: answer.fill,
      reason: null,
      txHash: hash(1),
      unanswered: [],
      dueBlock: null,
      dueAtMs: null,
      updatedAtMs: timeOfBlock(BLOCK + 4),
    })
  })

  for (const reason of ORDER_REASONS) {
    it(`is rejected: ${reason}`, () => {
      const state = fold(MARKET_ORDER, [OPEN], [REQUESTED, refused({ block: BLOCK + 4 }, reason)])
      assertState(state, { status: 'rejected', reason, fill: null, unanswered: [], dueBlock: null })
    })
  }

  it('times out at its block, and not before', () => {
    assert.equal(fold(MARKET_ORDER, [OPEN], [REQUESTED], { headBlock: DUE_BLOCK - 1 }).status, 'pending')
    const state = fold(MARKET_ORDER, [OPEN], [REQUESTED], { headBlock: DUE_BLOCK })
    assertState(state, { status: 'timed_out', unanswered: [5], dueBlock: null, dueAtMs: null, reason: null })
    assert.deepEqual(fold(MARKET_ORDER, [OPEN], [REQUESTED], { headBlock: DUE_BLOCK + 10_000 }), state)
  })

  it('is filled or rejected by an answer after the timeout', () => {
    const late = { block: DUE_BLOCK + 50 }
    const clock = { headBlock: DUE_BLOCK + 50 }
    assert.equal(fold(MARKET_ORDER, [OPEN], [REQUESTED, executed(late)], clock).status, 'filled')
    const rejected = fold(MARKET_ORDER, [OPEN], [REQUESTED, refused(late, 'SLIPPAGE')], clock)
    assertState(rejected, { status: 'rejected', reason: 'SLIPPAGE', unanswered: [] })
  })

  it('is canceled when it is reclaimed', () => {
    const reclaim = anAttempt(2, { kind: 'reclaim' })
    const events = [REQUESTED, reclaimed({ block: DUE_BLOCK + 1, n: 2 })]
    const state = fold(MARKET_ORDER, [OPEN, reclaim], events, { headBlock: DUE_BLOCK + 1 })
    assertState(state, { status: 'canceled', fill: null, reason: null, unanswered: [], txHash: hash(1) })
  })

  it('stays timed out while a reclaim is prepared, reported, or failed', () => {
    const reclaim = anAttempt(2, { kind: 'reclaim', submittedHash: hash(2), submittedAtMs: T0 })
    const clock = { headBlock: DUE_BLOCK + 1 }
    const before = fold(MARKET_ORDER, [OPEN], [REQUESTED], clock)
    assert.deepEqual(fold(MARKET_ORDER, [OPEN, reclaim], [REQUESTED], clock), before)
    const failed = reverted({ block: DUE_BLOCK + 1, n: 2 })
    assert.deepEqual(fold(MARKET_ORDER, [OPEN, reclaim], [REQUESTED, failed], clock), before)
  })

  it('ignores a second answer to the same request', () => {
    const answer = executed({ block: BLOCK + 4 })
    const state = fold(MARKET_ORDER, [OPEN], [REQUESTED, answer])
    const more = [REQUESTED, answer, refused({ block: BLOCK + 5 }, 'SLIPPAGE'), reclaimed({ block: BLOCK + 6 })]
    assert.deepEqual(fold(MARKET_ORDER, [OPEN], more), state)
  })
})

describe('an order revived late', () => {
  const late = START_BLOCK + 90
  const clock = { nowMs: timeOfBlock(late), headBlock: late }

  it('counts from its block on when it had expired by then', () => {
    for (const event of [requested({ block: late, n: 1 }), placed({ block: late, n: 1 })]) {
      const state = fold(MARKET_ORDER, [OPEN], [event], clock)
      assertState(state, { txHash: hash(1), countedSinceMs: timeOfBlock(late), updatedAtMs: timeOfBlock(late) })
      assert.equal(state.status, event.kind === 'placed' ? 'open' : 'pending')
    }
  })

  it('counts from its block on when it had been withdrawn by then', () => {
    const withdrawn = { ...OPEN, withdrawnAtMs: T0 + 100 }
    const state = fold(MARKET_ORDER, [withdrawn], [REQUESTED])
    assertState(state, { status: 'pending', countedSinceMs: timeOfBlock(BLOCK) })
  })

  it('counts from when it was prepared when only we were late', () => {
    const state = fold(MARKET_ORDER, [OPEN], [REQUESTED], { nowMs: EXPIRY + 10_000 })
    assertState(state, { status: 'pending', countedSinceMs: T0, updatedAtMs: timeOfBlock(BLOCK) })
  })

  it('is known by the reported hash when its transaction has no id', () => {
    const event = { ...REQUESTED, attemptId: null }
    assert.equal(fold(MARKET_ORDER, [REPORTED], [event]).countedSinceMs, T0)
    assert.equal(fold(MARKET_ORDER, [OPEN], [event]).countedSinceMs, timeOfBlock(BLOCK))
  })
})

describe('a transaction that failed', () => {
  const failed = reverted({ block: BLOCK, n: 1 })

  it('rejects the order it should have brought to the chain', () => {
    for (const clock of [{}, { nowMs: EXPIRY + 1 }]) {
      for (const attempt of [OPEN, REPORTED, { ...OPEN, withdrawnAtMs: T0 + 1 }]) {
        assertState(fold(MARKET_ORDER, [attempt], [failed], clock), {
          status: 'rejected',
          reason: 'OTHER',
          txHash: hash(1),
          expiresAtMs: null,
          dueAtMs: null,
        })
      }
    }
  })

  it('does not move when it is seen again later', () => {
    const state = fold(MARKET_ORDER, [REPORTED], [failed])
    assert.equal(state.updatedAtMs, timeOfBlock(BLOCK))
    assert.deepEqual(fold(MARKET_ORDER, [REPORTED], [failed], { nowMs: EXPIRY + 10 ** 9 }), state)
  })

  it('has the hash that failed, not another that was reported', () => {
    const attempt = { ...OPEN, submittedHash: hash(50), submittedAtMs: T0 + 1 }
    assert.equal(fold(MARKET_ORDER, [attempt], [failed]).txHash, hash(1))
  })

  it('leaves an order alone that another attempt can still bring there', () => {
    const again = anAttempt(2, { createdAtMs: EXPIRY + 5_000 })
    const late = reverted({ block: START_BLOCK + 66, n: 1 })
    const state = fold(MARKET_ORDER, [OPEN, again], [late], { nowMs: EXPIRY + 7_000 })
    assertState(state, { status: 'prepared', reason: null, txHash: null, dueAtMs: again.expiresAtMs })
    const expired = fold(MARKET_ORDER, [OPEN, again], [late], { nowMs: again.expiresAtMs })
    assertState(expired, { status: 'rejected', reason: 'OTHER', txHash: hash(1) })
  })

  it('is made good by another attempt that is mined', () => {
    const again = anAttempt(2, { createdAtMs: EXPIRY + 5_000 })
    const second = requested({ block: BLOCK + 1, n: 2 })
    assertState(fold(MARKET_ORDER, [OPEN, again], [failed, second]), {
      status: 'pending',
      reason: null,
      txHash: hash(2),
    })
    const before = requested({ block: BLOCK - 1, n: 2 })
    assertState(fold(MARKET_ORDER, [OPEN, again], [failed, before]), { status: 'pending', txHash: hash(2) })
  })

  it('of a change leaves a resting order as it was', () => {
    const before = fold(LIMIT_ORDER, [OPEN], [PLACED])
    for (const kind of ['update', 'replace', 'cancel'] as const) {
      const change = anAttempt(2, { kind, size: decimal('9') })
      const events = [PLACED, reverted({ block: BLOCK + 2, n: 2 })]
      assert.deepEqual(fold(LIMIT_ORDER, [OPEN, change], events), before)
    }
  })

  it('of nobody we know changes nothing', () => {
    const unknown = reverted({ block: BLOCK, n: 40 })
    assert.deepEqual(fold(MARKET_ORDER, [OPEN], [unknown]), fold(MARKET_ORDER, [OPEN]))
    assert.equal(foldOrder(FOREIGN_ORDER, [], [unknown], clockAt()), undefined)
  })
})

describe('a resting order', () => {
  it('is open with the terms of the chain', () => {
    const event = placed(
      { block: BLOCK, n: 1 },
      { sl: Price.of(551_234_567_891_234n), tp: Price.of(700_000_000_000_000n), slippageP: 1_500 },
    )
    assertState(fold(LIMIT_ORDER, [OPEN], [event]), {
      status: 'open',
      size: decimal('0.1'),
      price: decimal('60000'),
      sl: decimal('55123.4567891234'),
      tp: decimal('70000'),
      slippage: decimal('1.5'),
      txHash: hash(1),
      tradeIndex: 3,
      expiresAtMs: null,
      dueAtMs: null,
      dueBlock: null,
      unanswered: [],
    })
  })

  it('neither expires nor times out', () => {
    const clock = { nowMs: EXPIRY + 10 ** 9, headBlock: DUE_BLOCK + 10 ** 6 }
    assert.deepEqual(fold(LIMIT_ORDER, [OPEN], [PLACED], clock), fold(LIMIT_ORDER, [OPEN], [PLACED]))
  })

  it('takes the terms of an update, unset ones as null', () => {
    const terms = {
      price: Price.of(59_000n * Price.one),
      sl: Price.zero,
      tp: Price.of(65_000n * Price.one),
      slippageP: 250,
    }
    const events = [PLACED, updated({ block: BLOCK + 5, n: 2 }, terms)]
    assertState(fold(LIMIT_ORDER, [OPEN, anAttempt(2, { kind: 'update' })], events), {
      status: 'open',
      size: decimal('0.1'),
      price: decimal('59000'),
      sl: null,
      tp: decimal('65000'),
      slippage: decimal('0.25'),
      tradeIndex: 3,
      txHash: hash(1),
      updatedAtMs: timeOfBlock(BLOCK + 5),
    })
  })

  it('is not changed by what is only prepared or reported', () => {
    const before = fold(LIMIT_ORDER, [OPEN], [PLACED])
    for (const kind of ['update', 'replace', 'cancel'] as const) {
      const change = anAttempt(2, { kind, size: decimal('9'), submittedHash: hash(2), submittedAtMs: T0 + 50_000 })
      // A replacement that is not mined in time stops counting against the agent's cap.
      const dueAtMs = kind === 'replace' ? change.expiresAtMs : null
      assert.deepEqual(fold(LIMIT_ORDER, [OPEN, change], [PLACED]), { ...before, dueAtMs })
    }
  })

  it('is canceled', () => {
    const state = fold(LIMIT_ORDER, [OPEN], [PLACED, canceled({ block: BLOCK + 3 })])
    assertState(state, { status: 'canceled', tradeIndex: null, txHash: hash(1), fill: null, reason: null })
  })

  it('is filled when it is triggered, with the terms it had', () => {
    const events = [
      PLACED,
      updated({ block: BLOCK + 1 }, { price: Price.of(10_000_000_000n) }),
      executed({ block: BLOCK + 9 }, null),
    ]
    const state = fold(LIMIT_ORDER, [OPEN], events)
    assertState(state, { status: 'filled', price: decimal('1'), tradeIndex: null, dueBlock: null })
    assert.equal(state.fill?.price, '65000')
  })

  it("is filled too when the execution names the bot's own request", () => {
    assert.equal(fold(LIMIT_ORDER, [OPEN], [PLACED, executed({ block: BLOCK + 9 }, 123)]).status, 'filled')
  })

  it('rests on when a trigger was refused', () => {
    const events = [PLACED, refused({ block: BLOCK + 2 }, 'NOT_HIT', null)]
    assert.deepEqual(fold(LIMIT_ORDER, [OPEN], events), fold(LIMIT_ORDER, [OPEN], [PLACED]))
  })

  it('stays the same order with the new size when it is replaced', () => {
    const replace = anAttempt(2, { kind: 'replace', size: decimal('0.25') })
    const place = { block: BLOCK + 6, n: 2 }
    const events = [
      PLACED,
      canceled({ ...place, log: 4 }),
      placed({ ...place, log: 6 }, { price: Price.of(580_000_000_000_000n) }, 4),
    ]
    assertState(fold(LIMIT_ORDER, [OPEN, replace], events), {
      status: 'open',
      size: decimal('0.25'),
      price: decimal('58000'),
      tradeIndex: 4,
      txHash: hash(1),
      countedSinceMs: T0,
      updatedAtMs: timeOfBlock(BLOCK + 6),
    })
    const updatedLater = [...events, updated({ block: BLOCK + 7 }, { price: Price.of(570_000_000_000_000n) })]
    assertState(fold(LIMIT_ORDER, [OPEN, replace], updatedLater), { size: decimal('0.25'), price: decimal('57000') })
    const undone = events.filter(({ blockNumber }) => blockNumber <= BLOCK)
    assertState(fold(LIMIT_ORDER, [OPEN, replace], undone), { size: decimal('0.1'), tradeIndex: 3, status: 'open' })
  })

  it('keeps its first resting place should a transaction place two', () => {
    const twice = [PLACED, placed({ block: BLOCK, n: 1, log: 7 }, { price: Price.of(1n) }, 99)]
    assert.deepEqual(fold(LIMIT_ORDER, [OPEN], twice), fold(LIMIT_ORDER, [OPEN], [PLACED]))
  })
})

describe('a closing order with legs', () => {
  const close = anOrder({ kind: 'close', reduceOnly: true, side: 'short' }, { spendUsd: Usd.zero })
  const legs = [5, 6, 7].map((pendingIndex, log) => requested({ block: BLOCK, n: 1, log }, pendingIndex))
  const filled = (pendingIndex: number, block: number, fields = {}) => executed({ block }, pendingIndex, fields)

  it('waits for all of them', () => {
    assertState(fold(close, [OPEN], legs), { status: 'pending', unanswered: [5, 6, 7], dueBlock: DUE_BLOCK })
  })

  it('is pending with what was filled so far', () => {
    const state = fold(close, [OPEN], [...legs, filled(6, BLOCK + 3)])
    assertState(state, { status: 'pending', unanswered: [5, 7], dueBlock: DUE_BLOCK })
    assert.equal(state.fill?.size, '0.1')
  })

  it('ignores a second answer to a leg, and one to no leg of it', () => {
    const events = [...legs, filled(6, BLOCK + 3)]
    const more = [
      ...events,
      refused({ block: BLOCK + 4 }, 'PAUSED', 6),
      filled(99, BLOCK + 5),
      executed({ block: BLOCK + 6 }, null),
    ]
    assert.deepEqual(fold(close, [OPEN], more), fold(close, [OPEN], events))
  })

  it('is filled with the sums when all are', () => {
    const answers = [
      filled(7, BLOCK + 3, { price: '100', size: '1', positionId: '13' }),
      filled(5, BLOCK + 4, { price: '200', size: '2', positionId: '11' }),
      filled(6, BLOCK + 5, { price: '300', size: '1', positionId: '12' }),
    ]
    const state = fold(close, [OPEN], [...legs, ...answers])
    assertState(state, { status: 'filled', reason: null, unanswered: [], dueBlock: null })
    assert.deepEqual(state.fill, {
      price: '200',
      size: '4',
      collateral: '1950',
      feeCollateral: '11.7',
      txHash: hash(1_000_000 + BLOCK + 5),
      timestamp: timeOfBlock(BLOCK + 5),
      positionId: '11',
    })
  })

  it('is filled when any is, with the reason of the first that was refused', () => {
    const answers = [
      refused({ block: BLOCK + 3 }, 'NO_TRADE', 7),
      refused({ block: BLOCK + 4 }, 'SLIPPAGE', 5),
      filled(6, BLOCK + 5, { positionId: '12' }),
    ]
    const state = fold(close, [OPEN], [...legs, ...answers])
    assertState(state, { status: 'filled', reason: 'SLIPPAGE' })
    assert.equal(state.fill?.positionId, '12')
  })

  it('is rejected when all were refused', () => {
    const answers = [5, 6, 7].map((index) => refused({ block: BLOCK + index }, index === 5 ? 'PAUSED' : 'OTHER', index))
    assertState(fold(close, [OPEN], [...legs, ...answers]), { status: 'rejected', reason: 'PAUSED', fill: null })
  })

  it('times out with those that were not answered', () => {
    const events = [...legs, filled(6, BLOCK + 3), refused({ block: BLOCK + 4 }, 'SLIPPAGE', 5)]
    const state = fold(close, [OPEN], events, { headBlock: DUE_BLOCK })
    assertState(state, { status: 'timed_out', unanswered: [7], reason: 'SLIPPAGE', dueBlock: null })
    assert.equal(state.fill?.size, '0.1')
  })

  it('counts a reclaimed leg as refused without a reason', () => {
    const back = (index: number) => reclaimed({ block: DUE_BLOCK + index }, index)
    const head = { headBlock: DUE_BLOCK + 20 }
    const someFilled = fold(close, [OPEN], [...legs, filled(6, BLOCK + 3), back(5), back(7)], head)
    assertState(someFilled, { status: 'filled', reason: null, unanswered: [] })
    const someRefused = fold(
      close,
      [OPEN],
      [...legs, refused({ block: BLOCK + 3 }, 'NO_TRADE', 6), back(5), back(7)],
      head,
    )
    assertState(someRefused, { status: 'rejected', reason: 'NO_TRADE' })
    assertState(fold(close, [OPEN], [...legs, back(5), back(6), back(7)], head), { status: 'canceled', reason: null })
    assertState(fold(close, [OPEN], [...legs, back(5), back(6)], head), { status: 'timed_out', unanswered: [7] })
  })
})

describe('an order found on the chain', () => {
  it('lives by its events alone', () => {
    const events = [requested({ block: BLOCK }), executed({ block: BLOCK + 2 })]
    assertState(fold(FOREIGN_ORDER, [], events.slice(0, 1)), {
      status: 'pending',
      expiresAtMs: null,
      dueBlock: DUE_BLOCK,
      countedSinceMs: timeOfBlock(BLOCK),
      txHash: hash(1_000_000 + BLOCK),
    })
    assert.equal(fold(FOREIGN_ORDER, [], events).status, 'filled')
    assert.equal(fold(FOREIGN_ORDER, [], [placed({ block: BLOCK })]).status, 'open')
  })

  it("is filled when it is a keeper's close, which has no request", () => {
    const event = executed({ block: BLOCK }, null)
    assertState(fold(FOREIGN_ORDER, [], [event]), {
      status: 'filled',
      fill: event.fill,
      txHash: event.txHash,
      dueBlock: null,
      updatedAtMs: timeOfBlock(BLOCK),
      countedSinceMs: timeOfBlock(BLOCK),
    })
  })

  it('can be changed by us, and is gone when its block is', () => {
    const attempts = [anAttempt(2, { kind: 'cancel' })]
    const events = [placed({ block: BLOCK }), canceled({ block: BLOCK + 1, n: 2 })]
    assert.equal(fold(FOREIGN_ORDER, attempts, events).status, 'canceled')
    assert.equal(fold(FOREIGN_ORDER, attempts, events.slice(0, 1)).status, 'open')
    assert.equal(foldOrder(FOREIGN_ORDER, attempts, [], clockAt()), undefined)
  })
})

describe('an order that was found on the chain', () => {
  const FOUND = { block: BLOCK, log: -9 }

  it('rests on the terms that were found, without a hash', () => {
    const state = fold(FOREIGN_ORDER, [], [foundResting(FOUND, { tp: Price.of(700_000_000_000_000n) })])
    assertState(state, { status: 'open', price: decimal('60000'), tp: decimal('70000'), txHash: null, tradeIndex: 3 })
    assertState(state, { updatedAtMs: timeOfBlock(BLOCK), expiresAtMs: null, dueAtMs: null, unanswered: [] })
    const filled = fold(FOREIGN_ORDER, [], [foundResting(FOUND), executed({ block: BLOCK + 1 }, null)])
    assert.equal(filled.status, 'filled')
    const gone = fold(FOREIGN_ORDER, [], [foundResting(FOUND), canceled({ block: BLOCK + 1 })])
    assert.equal(gone.status, 'canceled')
  })

  it('waits for the oracle since the block of its request', () => {
    const found = [foundRequest(FOUND, BLOCK - 150)]
    assertState(fold(FOREIGN_ORDER, [], found), {
      status: 'pending',
      unanswered: [5],
      dueBlock: BLOCK + 50,
      txHash: null,
    })
    assert.equal(fold(FOREIGN_ORDER, [], found, { headBlock: BLOCK + 49 }).status, 'pending')
    assert.equal(fold(FOREIGN_ORDER, [], found, { headBlock: BLOCK + 50 }).status, 'timed_out')
    assert.equal(fold(FOREIGN_ORDER, [], [...found, executed({ block: BLOCK + 60 })]).status, 'filled')
    assert.equal(fold(FOREIGN_ORDER, [], [...found, reclaimed({ block: BLOCK + 60 })]).status, 'canceled')
  })

  it('may have timed out before it was found', () => {
    const state = fold(FOREIGN_ORDER, [], [foundRequest(FOUND, BLOCK - 900)], { headBlock: BLOCK })
    assertState(state, { status: 'timed_out', unanswered: [5] })
  })

  it('and was known keeps its hash, and takes only what differs', () => {
    const again = foundResting({ block: BLOCK + 3, log: -9 }, { price: Price.of(610_000_000_000_000n) })
    assertState(fold(LIMIT_ORDER, [OPEN], [PLACED, again]), {
      status: 'open',
      txHash: hash(1),
      price: decimal('61000'),
      updatedAtMs: timeOfBlock(BLOCK + 3),
    })
    const waiting = fold(MARKET_ORDER, [OPEN], [REQUESTED])
    assert.deepEqual(
      fold(MARKET_ORDER, [OPEN], [REQUESTED, foundRequest({ block: BLOCK + 3, log: -9 }, BLOCK)]),
      waiting,
    )
  })
})
