import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AccountEvent, Order } from '@bezel/sdk'
import { filled, HASH, sampleOrder } from './testing/samples.ts'
import { composeTimeline, type OrderStep } from './timeline.ts'

let seq = 0
const told = (timestamp: number, of: Partial<Order>, more: Partial<AccountEvent> = {}): AccountEvent =>
  ({
    seq: (seq += 1),
    channel: 'orders',
    timestamp,
    block: null,
    reverted: false,
    data: sampleOrder({ updatedAt: timestamp, ...of }),
    ...more,
  }) as AccountEvent

const kinds = (steps: readonly OrderStep[]): string[] => steps.map(({ kind }) => kind)
const orderAfter = (events: readonly AccountEvent[]): Order => events.at(-1)!.data as Order

describe('the timeline of an order', () => {
  it('goes from prepared to filled, each step at its time', () => {
    const events = [
      told(1_000, {}),
      told(1_500, { txHash: HASH }),
      told(2_000, { status: 'pending', txHash: HASH }, { block: 7 }),
      told(3_000, filled(3_000), { block: 8 }),
    ]
    const steps = composeTimeline({ order: orderAfter(events), events })
    assert.deepEqual(
      steps.map(({ kind, atMs, block }) => [kind, atMs, block]),
      [
        ['prepared', 1_000, null],
        ['sent', 1_500, null],
        ['pending', 2_000, 7],
        ['filled', 3_000, 8],
      ],
    )
    assert.deepEqual(
      steps.map(({ isNow }) => isNow),
      [false, false, false, true],
    )
    assert.match(steps[3]!.detail!, /^0.01\sBTC at 60.?010.00, for a fee of 0.36\sUSDC.$/)
    assert.equal(steps[3]!.txHash, HASH)
  })

  it('knows from this page that a wallet has sent it, which nobody reports', () => {
    const events = [told(1_000, {})]
    const sent = { atMs: 1_400, txHash: HASH }
    const steps = composeTimeline({ order: sampleOrder(), events, sent })
    assert.deepEqual(kinds(steps), ['prepared', 'sent'])
    assert.deepEqual([steps[1]!.atMs, steps[1]!.txHash], [1_400, HASH])
    const later = [...events, told(2_000, { status: 'pending' })]
    assert.deepEqual(kinds(composeTimeline({ order: orderAfter(later), events: later, sent })), [
      'prepared',
      'sent',
      'pending',
    ])
  })

  it('is told from the order alone where the log does not reach back', () => {
    const order = sampleOrder(filled(9_000))
    assert.deepEqual(kinds(composeTimeline({ order, events: [] })), ['prepared', 'sent', 'filled'])
  })

  it('says in words why it was rejected and what to do', () => {
    const events = [told(1_000, {}), told(2_000, { status: 'rejected', reason: 'SLIPPAGE', txHash: HASH })]
    const last = composeTimeline({ order: orderAfter(events), events }).at(-1)!
    assert.equal(last.detail, 'It was refused, because the price moved further than the slippage allows.')
    assert.equal(last.remedy, 'Order again with the current price or more slippage.')
  })

  it('of a timed-out one ends with the reclaim', () => {
    const events = [
      told(1_000, {}),
      told(2_000, { status: 'pending', txHash: HASH }),
      told(3_000, { status: 'timed_out', txHash: HASH }),
      told(4_000, { status: 'canceled', txHash: HASH }),
    ]
    const steps = composeTimeline({ order: orderAfter(events), events })
    assert.deepEqual(kinds(steps), ['prepared', 'sent', 'pending', 'timed_out', 'canceled'])
    assert.match(steps[3]!.remedy!, /Reclaim/)
  })

  it('shows what a reorganisation took back, and what follows', () => {
    const events = [
      told(1_000, {}),
      told(2_000, { status: 'pending', txHash: HASH }),
      told(3_000, filled(3_000)),
      told(4_000, { status: 'pending', txHash: HASH }, { reverted: true }),
    ]
    const during = composeTimeline({ order: orderAfter(events), events })
    assert.deepEqual(kinds(during), ['prepared', 'sent', 'pending', 'filled', 'reverted', 'pending'])
    assert.deepEqual(
      during.filter(({ isTakenBack }) => isTakenBack).map(({ kind }) => kind),
      ['filled'],
    )
    const more = [...events, told(5_000, filled(5_000))]
    const after = composeTimeline({ order: orderAfter(more), events: more })
    assert.deepEqual(kinds(after).slice(-3), ['reverted', 'pending', 'filled'])
    assert.deepEqual([after.at(-1)!.isTakenBack, after.at(-1)!.isNow], [false, true])
  })

  it('of one that was never sent has no sent step', () => {
    const events = [told(1_000, {}), told(61_000, { status: 'expired' })]
    assert.deepEqual(kinds(composeTimeline({ order: orderAfter(events), events })), ['prepared', 'expired'])
  })

  it('leaves out other orders and channels', () => {
    const events = [
      told(1_000, {}),
      told(1_500, { id: '99', status: 'pending' }),
      told(2_000, filled(2_000), { channel: 'fills' }),
    ]
    assert.deepEqual(kinds(composeTimeline({ order: sampleOrder(), events })), ['prepared'])
  })
})
