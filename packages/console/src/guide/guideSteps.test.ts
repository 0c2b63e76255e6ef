import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import {
  advance,
  FIRST_STEP,
  readMemory,
  shownStep,
  type GuidedOrder,
  type GuideFacts,
  type GuideMemory,
} from './guideSteps.ts'

const NOW_MS = 1_800_000_000_000

const NOBODY: GuideFacts = {
  isSignedIn: false,
  trader: null,
  view: 'markets',
  orders: null,
  positionIds: null,
  nowMs: NOW_MS,
}

const HERE: GuideFacts = { ...NOBODY, trader: '0xa', isSignedIn: true, orders: [], positionIds: [] }

const TRADING: GuideFacts = { ...HERE, view: 'trade' }

function orderOf(status: GuidedOrder['status'], changes: Partial<GuidedOrder> = {}): GuidedOrder {
  const fill = { price: '1', size: '1', collateral: '1', feeCollateral: '0', txHash: '0x1', timestamp: NOW_MS } as const
  return {
    id: '12',
    status,
    type: 'market',
    reduceOnly: false,
    createdAt: NOW_MS + 1_000,
    fill: status === 'filled' ? { ...fill, positionId: '7' } : null,
    ...changes,
  }
}

function running(memory: GuideMemory) {
  assert.equal(memory.status, 'running')
  return memory as Extract<GuideMemory, { status: 'running' }>
}

/** Runs the guide over a series of facts, as the page would tell them. */
const walk = (facts: readonly GuideFacts[]): GuideMemory => facts.reduce(advance, FIRST_STEP)

describe('advance', () => {
  it('goes from the wallet to the closed trade by what happens', () => {
    const reached = [
      NOBODY,
      { ...NOBODY, trader: '0xa' },
      HERE,
      TRADING,
      { ...TRADING, orders: [orderOf('prepared')] },
      { ...TRADING, orders: [orderOf('pending')] },
      { ...TRADING, orders: [orderOf('filled')], positionIds: ['7'] },
    ].map((_, index, all) => running(walk(all.slice(0, index + 1))).reached)
    assert.deepEqual(reached, [1, 1, 2, 3, 3, 4, 5])
    const open = walk([HERE, TRADING, { ...TRADING, orders: [orderOf('filled')], positionIds: ['7'] }])
    assert.equal(advance(open, { ...TRADING, orders: [orderOf('filled')] }).status, 'done')
  })

  it('returns the same object when nothing changed, so that nothing is written', () => {
    const memory = walk([HERE])
    assert.equal(advance(memory, HERE), memory)
    assert.equal(advance({ status: 'skipped' }, TRADING).status, 'skipped')
  })

  it('catches up in one go after a reload in the middle', () => {
    const memory = readMemory(structuredClone(walk([HERE, TRADING])))
    const later = advance(memory, { ...TRADING, orders: [orderOf('filled')], positionIds: ['7'] })
    assert.equal(running(later).reached, 5)
    assert.equal(running(later).positionId, '7')
  })

  it('waits while orders and positions are not known yet, as right after a reload', () => {
    const memory = walk([HERE, TRADING, { ...TRADING, orders: [orderOf('filled')], positionIds: ['7'] }])
    assert.equal(advance(memory, { ...TRADING, orders: null, positionIds: null }), memory)
    assert.equal(advance(memory, NOBODY), memory)
  })

  it('does not count orders of before, nor closes', () => {
    const old = orderOf('filled', { createdAt: NOW_MS - 60_000 })
    const close = orderOf('pending', { reduceOnly: true })
    assert.equal(running(walk([HERE, { ...TRADING, orders: [close, old] }])).reached, 3)
  })

  it('tells why an order did not fill, goes back, and counts only the next one', () => {
    const sent = walk([HERE, TRADING, { ...TRADING, orders: [orderOf('pending')] }])
    const back = running(advance(sent, { ...TRADING, orders: [orderOf('rejected')] }))
    assert.equal(back.reached, 3)
    assert.match(back.setback ?? '', /refused that order/)
    assert.equal(advance(back, { ...TRADING, orders: [orderOf('rejected')] }), back)
    const next = orderOf('pending', { id: '13', createdAt: NOW_MS + 9_000 })
    const again = running(advance(back, { ...TRADING, orders: [next, orderOf('rejected')] }))
    assert.deepEqual([again.reached, again.setback], [4, null])
  })

  it('notices an order that failed before anybody saw it sent', () => {
    const memory = running(walk([HERE, TRADING, { ...TRADING, orders: [orderOf('timed_out')] }]))
    assert.equal(memory.reached, 3)
    assert.match(memory.setback ?? '', /Reclaim/)
  })

  it('is not over because the fill is told before the position', () => {
    const filled = { ...TRADING, orders: [orderOf('filled')] }
    const memory = walk([HERE, TRADING, filled])
    assert.equal(running(memory).reached, 5)
    const seen = advance(memory, { ...filled, positionIds: ['7'] })
    assert.equal(advance(seen, filled).status, 'done')
  })

  it('is over when the close was missed by a reload', () => {
    const memory = walk([HERE, TRADING, { ...TRADING, orders: [orderOf('filled')] }])
    const close = orderOf('filled', { id: '13', reduceOnly: true })
    assert.equal(advance(memory, { ...TRADING, orders: [close, orderOf('filled')] }).status, 'done')
  })

  it('begins anew for another trader, whose positions are others', () => {
    const open = walk([HERE, TRADING, { ...TRADING, orders: [orderOf('filled')], positionIds: ['7'] }])
    const other = running(advance(open, { ...TRADING, trader: '0xb' }))
    assert.deepEqual([other.reached, other.trader, other.positionId], [3, '0xb', null])
  })

  it('goes on with a market order when the first one rests', () => {
    const resting = orderOf('open', { type: 'limit' })
    const sent = walk([HERE, TRADING, { ...TRADING, orders: [resting] }])
    assert.equal(running(sent).reached, 4)
    const filled = orderOf('filled', { id: '13', createdAt: NOW_MS + 9_000 })
    assert.equal(running(advance(sent, { ...TRADING, orders: [filled, resting] })).reached, 5)
  })
})

describe('shownStep', () => {
  it('shows the wallet again after a disconnect, and the market after leaving it', () => {
    const memory = running(walk([HERE, TRADING]))
    assert.equal(shownStep(memory, TRADING), 3)
    assert.equal(shownStep(memory, HERE), 2)
    assert.equal(shownStep(memory, NOBODY), 1)
  })

  it('stays at the close in every view', () => {
    const memory = running(walk([HERE, TRADING, { ...TRADING, orders: [orderOf('filled')], positionIds: ['7'] }]))
    assert.equal(shownStep(memory, { ...HERE, view: 'portfolio' }), 5)
  })
})

describe('readMemory', () => {
  it('begins anew with nothing or with nonsense, and never again once it is over', () => {
    for (const stored of [null, undefined, '', [], 7, { status: 'running' }, { status: 'running', reached: 9 }]) {
      assert.deepEqual(readMemory(stored), FIRST_STEP)
    }
    assert.deepEqual(readMemory({ status: 'skipped', reached: 2 }), { status: 'skipped' })
    assert.deepEqual(readMemory({ status: 'done' }), { status: 'done' })
  })
})
