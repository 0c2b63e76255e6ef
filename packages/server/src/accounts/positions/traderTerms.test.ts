import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Address } from '@bezel/protocol'
import { ORDINARY_TERMS } from '../../trading/valuation/chainState.ts'
import { ALICE } from './testing/livePosition.ts'
import { createKnownTerms } from './traderTerms.ts'

const BOB = `0x${'bb'.repeat(20)}` as Address
const own = (fixedSpreadP: number) => ({ cumulVolPriceImpactMultiplier: 0, fixedSpreadP })

describe('known terms', () => {
  it('are the ordinary ones until they are read, and change with a later read only', () => {
    const terms = createKnownTerms(() => 10)
    const changes: unknown[] = []
    terms.onChange((changed) => changes.push(changed))
    assert.equal(terms.of(ALICE, 0), ORDINARY_TERMS)
    terms.learn(ALICE, 0, own(0))
    assert.equal(terms.of(ALICE, 0), ORDINARY_TERMS)
    terms.learn(ALICE, 0, own(20))
    const found = terms.of(ALICE, 0)
    assert.deepEqual(found, { ...ORDINARY_TERMS, fixedSpreadP: 20 })
    terms.learn(ALICE, 0, own(20))
    terms.learn(ALICE, 0, own(30), 9)
    assert.equal(terms.of(ALICE, 0), found)
    assert.deepEqual(changes, [{ trader: ALICE, pairIndex: 0 }])
    assert.equal(terms.of(ALICE, 1), ORDINARY_TERMS)
    assert.equal(terms.of(BOB, 0), ORDINARY_TERMS)
  })

  it('are due before the first read, and an hour after the last', () => {
    let nowMs = 10
    const terms = createKnownTerms(() => nowMs)
    assert.ok(terms.isDue(ALICE, 0))
    terms.learn(ALICE, 0, own(0))
    nowMs += 3_599_999
    assert.ok(!terms.isDue(ALICE, 0))
    nowMs += 1
    assert.ok(terms.isDue(ALICE, 0))
  })

  it('of its own are not forgotten, however many others are read', () => {
    const terms = createKnownTerms(() => 10)
    terms.learn(ALICE, 0, own(20))
    for (let pairIndex = 1; pairIndex <= 20_001; pairIndex += 1) terms.learn(ALICE, pairIndex, own(0))
    assert.equal(terms.of(ALICE, 0).fixedSpreadP, 20)
    assert.ok(terms.isDue(ALICE, 1), 'of the ordinary ones only the last are remembered')
    terms.learn(ALICE, 0, own(0))
    assert.equal(terms.of(ALICE, 0), ORDINARY_TERMS)
  })
})
