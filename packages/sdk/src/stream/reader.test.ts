import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createReader } from './reader.ts'

function readerOf(waiting: number[], signal?: AbortSignal) {
  const ends: string[] = []
  const reader = createReader<number>({ take: () => waiting.shift(), onEnd: () => ends.push('end'), signal })
  return { reader, ends, subscription: reader.subscription }
}
const DONE = { done: true, value: undefined }

describe('a subscription', () => {
  it('gives what waits, then what comes, to all who ask, in order', async () => {
    const waiting = [1]
    const { reader, subscription } = readerOf(waiting)
    const asked = [subscription.next(), subscription.next(), subscription.next()]
    waiting.push(2, 3)
    reader.wake()
    assert.deepEqual(
      (await Promise.all(asked)).map(({ value }) => value),
      [1, 2, 3],
    )
  })

  it('ends when its loop is left', async () => {
    const { ends, subscription } = readerOf([1, 2, 3])
    for await (const value of subscription) {
      assert.equal(value, 1)
      break
    }
    assert.deepEqual(ends, ['end'])
    assert.deepEqual(await subscription.next(), DONE)
  })

  it('ends a loop that waits when it is closed, without an error, once', async () => {
    const { ends, subscription } = readerOf([])
    const asked = subscription.next()
    subscription.close()
    subscription.close()
    assert.deepEqual([await asked, ends], [DONE, ['end']])
  })

  it('gives what waits before it fails, fails once, and is over then', async () => {
    const { reader, ends, subscription } = readerOf([1])
    reader.fail(new Error('gone'))
    assert.deepEqual(ends, ['end'])
    assert.deepEqual(await subscription.next(), { done: false, value: 1 })
    await assert.rejects(subscription.next(), { message: 'gone' })
    assert.deepEqual(await subscription.next(), DONE)
  })

  it('fails who waits already', async () => {
    const { reader, subscription } = readerOf([])
    const asked = subscription.next()
    reader.fail(new Error('gone'))
    reader.fail(new Error('again'))
    await assert.rejects(asked, { message: 'gone' })
  })

  it('forgets its error when it is closed before anybody heard it', async () => {
    const { reader, subscription } = readerOf([])
    reader.fail(new Error('gone'))
    subscription.close()
    assert.deepEqual(await subscription.next(), DONE)
  })

  it('is aborted at once, whatever waits, with the reason', async () => {
    const controller = new AbortController()
    const { ends, subscription } = readerOf([1, 2], controller.signal)
    controller.abort(new Error('enough'))
    await assert.rejects(subscription.next(), { message: 'enough' })
    assert.deepEqual([await subscription.next(), ends], [DONE, ['end']])
  })

  it('is aborted when the signal was already', async () => {
    const { ends, subscription } = readerOf([], AbortSignal.abort(new Error('before')))
    await assert.rejects(subscription.next(), { message: 'before' })
    assert.deepEqual(ends, ['end'])
  })
})
