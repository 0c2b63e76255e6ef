import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { openRegistry } from '../../agents/registry.ts'
import { addressOf, sampleAgent } from '../../agents/testing/sampleAgent.ts'
import { openTestFacadeNonces, type TestFacadeNonces } from '../signing/testing/testFacadeNonces.ts'
import { createEnvelopeNonce } from './exchangeParts.ts'
import { TEST_SCOPE } from '../../store/testing/testScope.ts'

describe('the nonce of an envelope', () => {
  let test: TestFacadeNonces

  beforeEach(async () => (test = await openTestFacadeNonces()))
  afterEach(() => test.remove())

  it('brings a trader who was revoked meanwhile not back, however late its action goes on', async () => {
    const { store } = test.opened
    const registry = await openRegistry(store, { now: () => test.nowMs })
    const trader = addressOf('1')
    const agent = sampleAgent({ agent: trader, mode: 'relayed', agentSigned: true, standing: 'used' })
    const of = { agent, nonce: test.nowMs, isNew: true, origin: {} }
    const nonce = createEnvelopeNonce({ nonces: test.nonces, store, registry }, of)
    await store.transaction(TEST_SCOPE, (sql) => nonce.claim(sql))
    assert.equal(registry.agent('base', trader)?.revoked, false)
    await registry.changeAgent('base', trader, (stored) => ({ ...stored!, revoked: true }))
    nonce.noteKept()
    assert.equal(registry.agent('base', trader)?.revoked, true)
  })
})
