import assert from 'node:assert/strict'
import { beforeEach, describe, it } from 'node:test'
import type { Hex } from '@bezel/protocol'
import type { RelayEntry, VersionKind } from '../../store/relayStore.ts'
import type { MinedVersion } from './nodeAnswers.ts'
import { createRelayMemory, findTracked, inNonceOrder, unminedIn, type RelayMemory } from './relayMemory.ts'

const BURN_GAS = 21_000n
const MARKET = { baseFeeWei: 10n, tipWei: 1n }

const hashOf = (nonce: number, version: number): Hex => `0x${nonce}${version}` as Hex

/** Returns an entry without an action, whose versions offer 1, 2, 3 ... wei. */
function entryOf(nonce: number, kinds: readonly VersionKind[] = ['action']): RelayEntry {
  const versions = kinds.map((kind, number) => ({
    number,
    kind,
    hash: hashOf(nonce, number),
    raw: '0x' as Hex,
    fees: { maxFeeWei: BigInt(number + 1), maxPriorityFeeWei: 1n },
    createdAtMs: 0,
  }))
  return { nonce, action: null, expiresAtMs: 0, day: 0, countedWei: 0n, versions }
}

function minedIn(blockNumber: number, nonce: number): MinedVersion {
  const hash = hashOf(nonce, 0)
  return { hash, kind: 'action', blockNumber, blockHash: '0xb' as Hex, costWei: 5n, isReverted: false }
}

describe("the relayer's memory", () => {
  let memory: RelayMemory
  const tracked = (nonce: number) => memory.state.tracked.get(nonce)!

  beforeEach(() => {
    memory = createRelayMemory()
    memory.opened({ first: 0, next: 0 })
    memory.loaded([entryOf(2), entryOf(0), entryOf(1)], { first: 0, next: 3 })
  })

  it('loads entries once, and knows them by every version', () => {
    memory.sent(1, 'taken', 100)
    memory.loaded([entryOf(1), entryOf(3, ['action', 'burn'])], { first: 0, next: 4 })
    assert.deepEqual(
      inNonceOrder(memory.state).map(({ entry }) => entry.nonce),
      [0, 1, 2, 3],
    )
    assert.equal(tracked(1).isTaken, true)
    assert.deepEqual([memory.state.loadedTo, memory.state.nonces], [4, { first: 0, next: 4 }])
    for (const version of [0, 1]) assert.equal(findTracked(memory.state, hashOf(3, version)), tracked(3))
    assert.equal(findTracked(memory.state, '0xdead' as Hex), undefined)
  })

  it('knows of nothing that waits before the first look', () => {
    assert.deepEqual(unminedIn(memory.state), [])
    memory.looked({ nodeHead: 7, usedNonces: 1 }, 50)
    assert.deepEqual(
      unminedIn(memory.state).map(({ entry }) => entry.nonce),
      [1, 2],
    )
  })

  it('counts how long the same nonce is next in line', () => {
    memory.looked({ nodeHead: 7, usedNonces: 1 }, 50)
    memory.looked({ nodeHead: 8, usedNonces: 1 }, 60)
    assert.deepEqual([memory.state.nodeHead, memory.state.lineSinceMs], [8, 50])
    memory.looked({ nodeHead: 9, usedNonces: 2 }, 70)
    assert.equal(memory.state.lineSinceMs, 70)
  })

  it('sends again what a reorganisation dropped, and only that', () => {
    for (const nonce of [0, 1, 2]) memory.sent(nonce, 'taken', 1_000)
    memory.looked({ nodeHead: 7, usedNonces: 2 }, 50)
    memory.mined(entryOf(0), minedIn(6, 0))
    memory.mined(entryOf(1), minedIn(7, 1))
    memory.looked({ nodeHead: 8, usedNonces: 1 }, 60)
    assert.equal(tracked(0).mined?.blockNumber, 6)
    assert.deepEqual([tracked(1).mined, tracked(1).isTaken, tracked(1).sendAtMs], [undefined, false, 0])
    assert.deepEqual([tracked(2).isTaken, tracked(2).sendAtMs], [true, 1_000])
  })

  it('counts refusals in a row, and forgets them with the next good answer', () => {
    memory.sent(0, 'refused', 10)
    memory.sent(0, 'hopeless', 20)
    assert.deepEqual([tracked(0).refusals, tracked(0).hopeless, tracked(0).sendAtMs], [2, 1, 20])
    memory.sent(0, 'refused', 30)
    assert.deepEqual([tracked(0).refusals, tracked(0).hopeless], [3, 0])
    memory.sent(0, 'underpriced', 40)
    assert.deepEqual([tracked(0).refusals, tracked(0).isUnderpriced], [0, true])
    memory.sent(0, 'taken', 50)
    assert.deepEqual([tracked(0).isTaken, tracked(0).isUnderpriced], [true, false])
    memory.sent(0, 'refused', 60)
    assert.equal(tracked(0).isTaken, true)
  })

  it('is out of funds until something is taken or the balance is high enough', () => {
    memory.sent(0, 'no_funds', 10)
    memory.sent(1, 'refused', 10)
    assert.equal(memory.state.hasNoFunds, true)
    memory.sent(0, 'taken', 10)
    assert.equal(memory.state.hasNoFunds, false)
    memory.sent(0, 'no_funds', 10)
    memory.priced({ market: MARKET, balanceWei: 4n, lowBalanceWei: 5n }, 100)
    assert.equal(memory.state.hasNoFunds, true)
    memory.priced({ market: MARKET, balanceWei: 5n, lowBalanceWei: 5n }, 200)
    assert.deepEqual([memory.state.hasNoFunds, memory.state.balanceWei], [false, 5n])
  })

  it('asks for the fees again while one of the answers could not be read', () => {
    memory.priced({ market: MARKET, balanceWei: undefined, lowBalanceWei: 0n }, 100)
    assert.deepEqual(memory.state.market, { ...MARKET, atMs: 100 })
    assert.equal(memory.state.feesAskedAtMs, Number.NEGATIVE_INFINITY)
    memory.priced({ market: undefined, balanceWei: 9n, lowBalanceWei: 0n }, 200)
    assert.deepEqual([memory.state.market?.atMs, memory.state.balanceWei], [100, 9n])
    memory.priced({ market: MARKET, balanceWei: 9n, lowBalanceWei: 0n }, 300)
    assert.equal(memory.state.feesAskedAtMs, 300)
  })

  it('remembers since when a nonce is used by nothing that is known, until it is found', () => {
    memory.asked(0, 40)
    memory.missing(0, 50)
    memory.missing(0, 60)
    memory.searched(0, 70)
    assert.deepEqual([tracked(0).askedAtMs, tracked(0).missingSinceMs, tracked(0).searchedAtMs], [40, 50, 70])
    const counted = { ...entryOf(0), countedWei: 5n }
    memory.mined(counted, minedIn(7, 0))
    assert.deepEqual([tracked(0).missingSinceMs, tracked(0).entry, tracked(0).mined?.costWei], [undefined, counted, 5n])
    memory.missing(0, 80)
    assert.deepEqual([tracked(0).missingSinceMs, tracked(0).mined], [80, undefined])
  })

  it('lets go of what has ended or was lost, and counts it', () => {
    memory.ended(0, 'action')
    memory.ended(1, 'burn')
    memory.lost(2)
    assert.equal(memory.state.tracked.size, 0)
    assert.equal(memory.state.nonceByHash.size, 0)
    assert.deepEqual(memory.state.counts, { mined: 1, burnt: 1, repriced: 0, lost: 1 })
  })

  it('starts a new version from the beginning, and counts those of the same kind', () => {
    memory.sent(0, 'hopeless', 1_000)
    memory.renewed(entryOf(0, ['action', 'action']))
    assert.deepEqual([tracked(0).sendAtMs, tracked(0).refusals, tracked(0).hopeless], [0, 0, 0])
    assert.equal(findTracked(memory.state, hashOf(0, 1)), tracked(0))
    memory.renewed(entryOf(0, ['action', 'action', 'burn']))
    assert.equal(memory.state.counts.repriced, 1)
  })

  it('adds up what waits, and what was taken since', () => {
    memory.mined(entryOf(0), minedIn(7, 0))
    memory.filled([entryOf(3, ['burn', 'burn'])])
    memory.reckoned(BURN_GAS, { usedWei: 5n, asideWei: 6n })
    // Nonces 1 and 2 offer one wei a unit; the second version of nonce 3 offers two.
    assert.equal(memory.state.outstandingWei, 4n * BURN_GAS)
    assert.deepEqual(memory.state.gas, { usedWei: 5n, asideWei: 6n })
    memory.reserved(4, 7n)
    assert.equal(memory.state.outstandingWei, 4n * BURN_GAS + 7n)
  })

  it('knows which nonces it gave out and never sent, and which to drop', () => {
    memory.reserved(3, 1n)
    memory.reserved(4, 1n)
    memory.offered([0, 3])
    for (const nonce of [1, 2, 3, 4]) memory.withdrawing(nonce)
    memory.stayed([4])
    assert.deepEqual([[...memory.state.unsent], [...memory.state.withdrawn]], [[4], [1, 2, 3]])
    memory.forgot()
    memory.loaded([entryOf(1), entryOf(2), entryOf(3, ['action', 'burn'])], { first: 0, next: 4 })
    // Those are withdrawn until their burns are there, or they have ended.
    memory.ended(2, 'action')
    assert.deepEqual([[...memory.state.unsent], [...memory.state.withdrawn]], [[4], [1]])
  })

  it('counts looks in a row that saw foreign nonces', () => {
    memory.compared(true)
    memory.compared(true)
    assert.equal(memory.state.strangeLooks, 2)
    memory.compared(false)
    assert.equal(memory.state.strangeLooks, 0)
  })

  it('forgets all that concerns entries after a failure, and keeps the rest', () => {
    memory.looked({ nodeHead: 7, usedNonces: 1 }, 50)
    memory.priced({ market: MARKET, balanceWei: 9n, lowBalanceWei: 0n }, 60)
    memory.sent(0, 'no_funds', 70)
    memory.reserved(2, 8n)
    memory.lost(2)
    memory.compared(true)
    memory.forgot()
    const { tracked: left, nonceByHash, ...state } = memory.state
    assert.deepEqual([left.size, nonceByHash.size], [0, 0])
    assert.deepEqual(state, {
      nonces: { first: 0, next: 3 },
      loadedTo: 0,
      usedNonces: undefined,
      nodeHead: -1,
      lineSinceMs: 0,
      strangeLooks: 0,
      market: { ...MARKET, atMs: 60 },
      feesAskedAtMs: 60,
      balanceWei: 9n,
      hasNoFunds: true,
      outstandingWei: 8n,
      minedNonces: 1,
      gas: { usedWei: 0n, asideWei: 0n },
      unsent: new Set([2]),
      withdrawn: new Set(),
      counts: { mined: 0, burnt: 0, repriced: 0, lost: 1 },
    })
  })

  it('leaves an entry that is not tracked alone', () => {
    memory.ended(0, 'action')
    memory.sent(0, 'taken', 10)
    memory.mined(entryOf(0), minedIn(7, 0))
    memory.missing(0, 10)
    assert.deepEqual([...memory.state.tracked.keys()].toSorted(), [1, 2])
  })

  it('never changes a state that somebody looks at', () => {
    const before = memory.state
    const of = tracked(0)
    memory.looked({ nodeHead: 7, usedNonces: 1 }, 50)
    memory.sent(0, 'taken', 10)
    assert.deepEqual([before.nodeHead, of.isTaken], [-1, false])
  })
})
