import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CollateralAmount, Usd, type Hex, type OrderStatus } from '@bezel/protocol'
import { changeCountedSince, changeLapsesAt, heldCollateral, isCounted, minedChargesUsd } from './countedSpend.ts'
import type { Attempt, ChainPlace, OrderEvent, OrderState } from './orderModel.ts'
import { anAttempt } from './testing/orderHistory.ts'

const END_MS = 300_000

const change = (n: number, fields: Partial<Attempt> = {}): Attempt =>
  anAttempt(n, { kind: 'replace', createdAtMs: n * 1_000, expiresAtMs: n * 1_000 + END_MS, ...fields })

const opened = anAttempt(1, { createdAtMs: 1_000, expiresAtMs: 1_000 + END_MS })

const state = (status: OrderStatus, fill: OrderState['fill'] = null) => ({ status, fill }) as OrderState

const placeAt = (block: number): ChainPlace => ({
  blockNumber: block,
  blockHash: `0x${block}` as Hex,
  logIndex: 0,
  txHash: `0x${block}` as Hex,
  timestampMs: block * 1_000,
})

const placedBy = ({ id }: Attempt, block: number, units = 5n): OrderEvent =>
  ({
    ...placeAt(block),
    attemptId: id,
    kind: 'placed',
    tradeIndex: block,
    collateralAmount: CollateralAmount.of(units),
    price: 1n,
    sl: 0n,
    tp: 0n,
    slippageP: 1_000,
  }) as OrderEvent

const revertedOf = ({ id }: Attempt, block: number): OrderEvent => ({
  ...placeAt(block),
  attemptId: id,
  kind: 'reverted',
})

describe('a change that makes an order larger', () => {
  const larger = change(10)
  const order = (events: readonly OrderEvent[], others: readonly Attempt[] = [], status: OrderStatus = 'open') => ({
    state: state(status),
    attempts: [opened, larger, ...others],
    events: [placedBy(opened, 2), ...events],
  })

  it('counts from its preparation on, until it lapses', () => {
    assert.equal(changeCountedSince(larger, order([]), 11_000), 10_000)
    assert.equal(changeCountedSince(larger, order([]), 10_000 + END_MS - 1), 10_000)
    assert.equal(changeCountedSince(larger, order([]), 10_000 + END_MS), undefined)
    const withdrawn = change(10, { withdrawnAtMs: 10_500 })
    assert.equal(changeCountedSince(withdrawn, order([]), 10_600), undefined)
  })

  it('counts for good once it is mined', () => {
    const mined = order([placedBy(larger, 12)])
    assert.equal(changeCountedSince(larger, mined, 10_000_000), 10_000)
    for (const status of ['expired', 'rejected', 'canceled'] as const) {
      assert.equal(changeCountedSince(larger, { ...mined, state: state(status) }, 11_000), undefined)
    }
    assert.equal(changeCountedSince(larger, { ...mined, state: state('filled', {} as never) }, 11_000), 10_000)
  })

  it('counts from its block on when it is mined after it lapsed', () => {
    const late = order([placedBy(larger, 999)])
    assert.equal(changeCountedSince(larger, late, 999_000), 999_000)
  })

  it('no longer counts once it can not be mined any more', () => {
    const later = change(20)
    assert.equal(changeCountedSince(larger, order([revertedOf(larger, 12)]), 11_000), undefined)
    assert.equal(changeCountedSince(larger, order([placedBy(later, 21)], [later]), 22_000), undefined)
    assert.equal(changeCountedSince(later, order([placedBy(larger, 21)], [later]), 22_000), 20_000)
    for (const status of ['filled', 'canceled', 'prepared'] as const) {
      assert.equal(changeCountedSince(larger, order([], [], status), 11_000), undefined)
    }
  })

  it('adds to what the order was made with once it is mined', () => {
    const charges = [{ attemptId: larger.id, usd: Usd.of(7n) }]
    assert.equal(minedChargesUsd(charges, order([])), 0n)
    assert.equal(minedChargesUsd(charges, order([placedBy(larger, 12)])), 7n)
    assert.equal(minedChargesUsd([{ attemptId: '0x00' as Hex, usd: Usd.of(7n) }], order([])), 0n)
  })

  it('is due when it lapses', () => {
    const later = change(20)
    assert.equal(changeLapsesAt(order([]), 11_000), 10_000 + END_MS)
    assert.equal(changeLapsesAt(order([], [later]), 11_000), 10_000 + END_MS)
    assert.equal(changeLapsesAt(order([], [later]), 10_000 + END_MS), 20_000 + END_MS)
    assert.equal(changeLapsesAt(order([placedBy(larger, 12)]), 11_000), null)
    assert.equal(changeLapsesAt(order([]), 10_000 + END_MS), null)
  })
})

describe('the collateral that an order holds', () => {
  it('is that of its last placement', () => {
    assert.equal(heldCollateral([]), undefined)
    assert.equal(heldCollateral([placedBy(opened, 2, 5n), placedBy(change(10), 12, 9n)]), 9n)
  })
})

describe('an order counts', () => {
  it('while it is filled or may still be', () => {
    for (const status of ['prepared', 'pending', 'open', 'timed_out', 'filled'] as const) {
      assert.equal(isCounted(state(status)), true)
    }
    for (const status of ['expired', 'rejected', 'canceled'] as const) assert.equal(isCounted(state(status)), false)
    assert.equal(isCounted(undefined), false)
    assert.equal(isCounted(state('canceled', {} as never)), true)
  })
})
