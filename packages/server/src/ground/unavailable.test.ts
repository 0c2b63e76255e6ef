import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { StoreUnavailableError, untilAvailable } from './unavailable.ts'

describe('untilAvailable', () => {
  /** Returns work that fails with each of these errors, then succeeds, and the number of its calls. */
  function failing(...errors: Error[]) {
    const calls = { count: 0 }
    const work = async (): Promise<string> => {
      calls.count += 1
      const error = errors.shift()
      if (error !== undefined) throw error
      return 'done'
    }
    return { work, calls }
  }
  const away = (): Error => new StoreUnavailableError('away')

  it('does again what an unavailable store kept from being done', async () => {
    const { work, calls } = failing(away(), away())
    assert.equal(await untilAvailable(work, 3), 'done')
    assert.equal(calls.count, 3)
  })

  it('gives up after some tries, and at once for anything else', async () => {
    const { work, calls } = failing(away(), away(), away())
    await assert.rejects(untilAvailable(work, 2), StoreUnavailableError)
    assert.equal(calls.count, 2)
    const wrong = failing(new TypeError('a bug'), away())
    await assert.rejects(untilAvailable(wrong.work, 2), TypeError)
    assert.equal(wrong.calls.count, 1)
  })
})
