import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { recordSpans, type RecordedSpan } from '@bezel/testkit/recordSpans.ts'
import { inSpan, isTraced, beginSpan } from './spans.ts'

describe('spans', () => {
  const ended: RecordedSpan[] = []
  /** Returns the spans that have ended since the last call. */
  const take = (): RecordedSpan[] => ended.splice(0)

  it('are not there without a provider, and the work is only called', async () => {
    assert.equal(isTraced(), false)
    assert.equal(
      inSpan('verify', {}, () => 1),
      1,
    )
    const promise = Promise.resolve(2)
    assert.equal(
      inSpan('store', {}, () => promise),
      promise,
    )
    recordSpans((span) => ended.push(span))
    assert.equal(isTraced(), true)
    take()
  })

  it('end with their work, which may be a promise', async () => {
    assert.equal(
      inSpan('verify', { 'bezel.chain': 'base' }, () => 1),
      1,
    )
    assert.deepEqual(
      take().map(({ name, attributes }) => [name, attributes]),
      [['verify', { 'bezel.chain': 'base' }]],
    )
    const { promise, resolve } = Promise.withResolvers<number>()
    const result = inSpan('store', {}, () => promise)
    await Promise.resolve()
    assert.deepEqual(take(), [])
    resolve(3)
    assert.equal(await result, 3)
    assert.equal(take().length, 1)
  })

  it('have the spans inside of them as children, also after something was awaited', async () => {
    const request = beginSpan('request', {})
    const { promise: done, resolve } = Promise.withResolvers<void>()
    request.within(() => {
      setImmediate(() => resolve(inSpan('store', {}, async () => inSpan('rpc', {}, async () => undefined))))
    })
    await done
    request.end({ 'bezel.status': 503 }, true)
    await new Promise(setImmediate)
    const spans = take()
    const of = (name: string): RecordedSpan => spans.find((span) => span.name === name)!
    assert.equal(of('request').parentId, undefined)
    assert.equal(of('store').parentId, of('request').spanId)
    assert.equal(of('rpc').parentId, of('store').spanId)
    assert.equal(new Set(spans.map(({ traceId }) => traceId)).size, 1)
    assert.deepEqual([of('request').attributes, of('request').status], [{ 'bezel.status': 503 }, { code: 2 }])
  })

  it('tell of an error its class, and not its message', async () => {
    const thrower = (): never => {
      throw new TypeError('a secret')
    }
    assert.throws(() => inSpan('verify', {}, thrower), /a secret/)
    await assert.rejects(
      inSpan('rpc', {}, async () => thrower()),
      /a secret/,
    )
    const spans = take()
    assert.deepEqual(
      spans.map(({ attributes, status }) => [attributes, status]),
      [
        [{ 'error.type': 'TypeError' }, { code: 2 }],
        [{ 'error.type': 'TypeError' }, { code: 2 }],
      ],
    )
    assert.doesNotMatch(JSON.stringify(spans), /secret/)
  })
})
