import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createSeenCommits } from './seenCommits.ts'

const answer = (commit: string) => ({ headers: new Headers({ 'X-Test-Commit': commit }) })
const READ = { auth: 'read', path: '/v1/base/account/0x1/positions' } as const

describe('the commits that answers included', () => {
  it('are asked for again, each on its own chain, and never an older one', () => {
    const seen = createSeenCommits('X-Test-')
    assert.deepEqual(seen.headersOf(READ), {})
    seen.note(answer('base:7'))
    seen.note(answer('arbitrum:9'))
    seen.note(answer('base:5'))
    assert.deepEqual(seen.headersOf(READ), { 'X-Test-After': 'base:7' })
    assert.deepEqual(seen.headersOf({ ...READ, path: '/v1/polygon/orders/1' }), {})
  })

  it('are asked for by calls with credentials alone', () => {
    const seen = createSeenCommits('X-Test-')
    seen.note(answer('base:7'))
    assert.deepEqual(seen.headersOf({ ...READ, auth: 'none' }), {})
    assert.deepEqual(seen.headersOf({ auth: 'agent', path: '/v1/time' }), {})
  })

  it('are forgotten, and what is no commit is ignored', () => {
    const seen = createSeenCommits('X-Test-')
    for (const commit of ['base', 'base:-1', 'base:1e9', '']) seen.note(answer(commit))
    assert.deepEqual(seen.headersOf(READ), {})
    seen.note(answer('base:7'))
    seen.forget()
    assert.deepEqual(seen.headersOf(READ), {})
  })
})
