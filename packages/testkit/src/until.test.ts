import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { until, within } from './until.ts'

/** A promise that never settles, as that of a request to a server that hangs. */
const never = (): Promise<never> => new Promise(() => undefined)

describe('until', () => {
  it('returns what it waited for', async () => {
    let looks = 0
    assert.equal(await until('three looks', () => (looks += 1) === 3 && 'found'), 'found')
    assert.equal(looks, 3)
  })

  it('ends with the name of the condition and what was seen last', async () => {
    const waiting = until(
      'the order is filled',
      (saw) => {
        saw({ status: 'expired' })
        return false
      },
      20,
    )
    await assert.rejects(waiting, /20 ms: the order is filled; last seen: \{ status: 'expired' \}$/)
  })

  it('ends while a look hangs', async () => {
    await assert.rejects(until('an answer', never, 20), /20 ms: an answer$/)
  })

  it('throws what a look throws, at once', async () => {
    const look = (): never => {
      throw new Error('the service is gone')
    }
    await assert.rejects(until('an answer', look), /the service is gone/)
  })
})

describe('within', () => {
  it('aborts the work that takes too long', async () => {
    let signal: AbortSignal | undefined
    const work = (given: AbortSignal): Promise<never> => {
      signal = given
      return never()
    }
    await assert.rejects(within('the end of it', work, 20), /20 ms: the end of it$/)
    assert.equal(signal?.aborted, true)
  })
})
