import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { toEventSelector, toFunctionSelector, type AbiEvent, type AbiFunction } from 'viem'
import { diamondAbi } from './diamondAbi.ts'
import vectors from './diamondAbi.vectors.json' with { type: 'json' }

const functions = diamondAbi.filter((entry) => entry.type === 'function')
const events = diamondAbi.filter((entry) => entry.type === 'event')
const errors = diamondAbi.filter((entry) => entry.type === 'error')

/** Computes the selector of an error, which works like that of a function. */
const errorSelector = ({ name, inputs }: (typeof errors)[number]): string =>
  toFunctionSelector({ type: 'function', name, inputs, outputs: [], stateMutability: 'nonpayable' })

function event(name: string): AbiEvent {
  return events.find((entry) => entry.name === name) ?? assert.fail(name)
}

describe('diamondAbi', () => {
  it('has 201 functions, 82 events and 115 errors', () => {
    assert.deepEqual([functions.length, events.length, errors.length, diamondAbi.length], [201, 82, 115, 398])
  })

  it('has the published selectors of the key functions', () => {
    assert.equal(Object.keys(vectors.functions).length, 35)
    for (const [name, selector] of Object.entries(vectors.functions)) {
      const entry: AbiFunction = functions.find((candidate) => candidate.name === name) ?? assert.fail(name)
      assert.equal(toFunctionSelector(entry), selector, name)
    }
  })

  it('has the published topic of every event', () => {
    const topics = Object.fromEntries(events.map((entry) => [entry.name, toEventSelector(entry)]))
    assert.deepEqual(topics, vectors.events)
  })

  it('has the published selector of every error', () => {
    const selectors = Object.fromEntries(errors.map((entry) => [entry.name, errorSelector(entry)]))
    assert.deepEqual(selectors, vectors.errors)
  })

  it('has no two functions, events or errors with one name or one selector', () => {
    const unique = (values: readonly string[]): number => new Set(values).size
    assert.equal(unique(functions.map(({ name }) => name)), 201)
    assert.equal(unique(functions.map((entry) => toFunctionSelector(entry))), 201)
    assert.equal(unique(events.map((entry) => toEventSelector(entry))), 82)
    assert.equal(unique(errors.map(errorSelector)), 115)
  })

  it('marks as indexed what the follower filters by, which no topic shows', () => {
    const indexed = (name: string): (string | undefined)[] =>
      event(name)
        .inputs.filter((input) => input.indexed)
        .map((input) => input.name)
    assert.deepEqual(indexed('MarketOrderInitiated'), ['trader', 'pairIndex'])
    assert.deepEqual(indexed('MarketExecuted'), ['user', 'index'])
    assert.deepEqual(indexed('LimitExecuted'), ['user', 'index', 'limitIndex'])
    assert.deepEqual(indexed('TriggerOrderCanceled'), ['triggerCaller'])
    assert.deepEqual(indexed('PendingOrderStored'), [])
    assert.deepEqual(indexed('LeverageUpdateExecuted'), ['collateralIndex', 'trader', 'index'])
    for (const entry of events) assert.ok(indexed(entry.name).length <= 3, entry.name)
  })

  it('can pay only the three calls that wrap the native token', () => {
    const payable = functions.filter((entry) => (entry.stateMutability as string) === 'payable').map(({ name }) => name)
    assert.deepEqual(payable, ['openTradeNative', 'updateLeverageNative', 'increasePositionSizeNative'])
  })
})
