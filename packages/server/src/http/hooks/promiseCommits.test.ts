import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import type { FastifyInstance } from 'fastify'
import type { ChainCommits } from '../../journal/commits.ts'
import { createApp } from '../createApp.ts'
import { promiseCommits } from './promiseCommits.ts'

describe('the promise of an answer', () => {
  let app: FastifyInstance
  let ageMs: number
  let isReloading: boolean
  let isSettled: boolean
  let asked: number[]

  const commits: Partial<ChainCommits> = {
    applied: () => 7,
    written: () => 9,
    ageMs: () => ageMs,
    isReloading: () => isReloading,
    settled: async () => (isSettled = true),
    reached: async (number) => {
      asked.push(number)
      return number <= 8
    },
  }

  before(async () => {
    app = createApp('silent')
    promiseCommits(app, {
      headerPrefix: 'X-Test-',
      commitsOf: (slug) => (slug === 'base' ? (commits as ChainCommits) : undefined),
      all: [commits as ChainCommits],
    })
    app.get('/v1/:chain/private', { config: { isPrivate: true } }, async () => ({}))
    app.post('/v1/:chain/private', { config: { isPrivate: true } }, async () => ({}))
    app.get('/v1/:chain/public', async () => ({}))
    app.post('/v1/private', { config: { isPrivate: true } }, async () => ({}))
    await app.ready()
  })
  after(() => app.close())
  beforeEach(() => {
    ageMs = 0
    isReloading = false
    asked = []
  })

  const ask = (method: 'GET' | 'POST', url: string, headers: Record<string, string> = {}) =>
    app.inject({ method, url, headers })
  const commitOf = async (method: 'GET' | 'POST', url: string): Promise<unknown> =>
    (await ask(method, url)).headers['x-test-commit']

  it('is what was known before a read, and the own commit of a write', async () => {
    assert.equal(await commitOf('GET', '/v1/base/private'), 'base:7')
    assert.equal(await commitOf('POST', '/v1/base/private'), 'base:9')
  })

  it('is none of what everybody sees, and of a chain that is not served', async () => {
    assert.equal(await commitOf('GET', '/v1/base/public'), undefined)
    assert.equal(await commitOf('GET', '/v1/polygon/private'), undefined)
  })

  it('is kept to whoever names a commit of the same chain', async () => {
    assert.equal((await ask('GET', '/v1/base/private', { 'x-test-after': 'base:8' })).statusCode, 200)
    const late = await ask('GET', '/v1/base/private', { 'x-test-after': 'base:12' })
    assert.deepEqual([late.statusCode, late.json().details.reason], [503, 'store_lagging'])
    assert.deepEqual(asked, [8, 12])
    assert.equal((await ask('GET', '/v1/base/private', { 'x-test-after': 'arbitrum:12' })).statusCode, 200)
    assert.deepEqual(asked, [8, 12])
  })

  it('is refused to whoever names none', async () => {
    for (const text of ['12', 'base:', 'base:-1', 'base:1.5', 'base:9999999999999999', ' ']) {
      const answer = await ask('GET', '/v1/base/private', { 'x-test-after': text })
      assert.deepEqual([answer.statusCode, answer.json().code], [400, 'VALIDATION_ERROR'], text)
    }
  })

  it('waits for other nodes also where no chain is named, because an agent may have been revoked there', async () => {
    isSettled = false
    assert.equal((await ask('POST', '/v1/private')).statusCode, 200)
    assert.equal(isSettled, true)
  })

  it('is not given from what is too old, or read again', async () => {
    ageMs = 2_001
    assert.equal((await ask('GET', '/v1/base/private')).json().details.reason, 'store_lagging')
    assert.equal((await ask('POST', '/v1/private')).json().details.reason, 'store_lagging')
    ageMs = 2_000
    assert.equal((await ask('POST', '/v1/private')).statusCode, 200)
    assert.equal((await ask('GET', '/v1/base/private')).statusCode, 200)
    isReloading = true
    assert.equal((await ask('GET', '/v1/base/private')).json().details.reason, 'store_lagging')
  })
})
