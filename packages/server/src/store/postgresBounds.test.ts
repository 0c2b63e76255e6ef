import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { FOLLOWER_RETRY_MS } from '../follower/startFollower.ts'
import { POSTGRES_BOUNDS } from './postgresBounds.ts'

/** Time within which whoever asks is told that the store is unavailable. */
const TOLD_MS = 3_000
/** Time after the return of the server within which it is tried again. */
const BACK_MS = 2_000

describe('the bounds of a PostgreSQL that does not answer', () => {
  const { silenceMs, connectMs, lookMs, lockMs, outcomePollMs } = POSTGRES_BOUNDS

  it('tell whoever asks within 3 s: a silent connection is cut, and a new one not made', () => {
    assert.ok(silenceMs + lookMs + connectMs + lookMs < TOLD_MS)
  })

  it('do not take somebody who waits for a lock for a silent server', () => {
    assert.ok(lockMs + lookMs < silenceMs)
    assert.ok(lockMs + silenceMs < TOLD_MS)
  })

  it('try again within 2 s of its return: after a connection under way is given up, and a pause', () => {
    assert.ok(connectMs + lookMs + outcomePollMs < BACK_MS)
    assert.ok(silenceMs + lookMs + outcomePollMs < BACK_MS)
    assert.ok(FOLLOWER_RETRY_MS <= BACK_MS)
  })
})
