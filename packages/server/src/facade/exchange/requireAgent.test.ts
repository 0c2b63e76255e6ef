import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { parseAddress, type Address, type Hex } from '@bezel/protocol'
import type { AgentRecord } from '../../trading/agentRecord.ts'
import { selectEngine } from '../../signatures/engines.ts'
import { signL1 } from '@bezel/testkit/signEnvelope.ts'
import { VECTOR_KEY, VECTOR_SIGNER } from '../signing/testing/vectorSigner.ts'
import { requireAgent, type AgentLookup, requireTimely } from './requireAgent.ts'

const engine = await selectEngine()

const NOW_MS = 1_731_628_800_000

const AGENT: AgentRecord = {
  chain: 'base',
  agent: parseAddress(VECTOR_SIGNER)!,
  trader: `0x${'1'.repeat(40)}` as Address,
  name: '',
  scope: { markets: 'all', maxLeverage: null, dailySpendCapUsd: null, expiresAt: null, permissions: 'trade' },
  mode: 'relayed',
  agentSigned: false,
  revoked: false,
  standing: 'used',
  createdAtMs: NOW_MS,
  signedAtMs: NOW_MS,
}

const lookup = (sources: AgentLookup['sources'] = ['b', 'a']): AgentLookup => ({
  engine,
  sources,
  agentOf: async (signer) => (signer === AGENT.agent ? AGENT : undefined),
})

const action = { type: 'cancel', cancels: [{ a: 0, o: 1 }] }

describe('requireAgent', () => {
  it('finds the agent behind either network and behind the canonical form', async () => {
    for (const source of ['a', 'b'] as const) {
      assert.equal(await requireAgent(lookup(), signL1(VECTOR_KEY, { action, nonce: NOW_MS }, source)), AGENT)
    }
    const envelope = signL1(VECTOR_KEY, { action, nonce: NOW_MS })
    const sent = { type: 'cancel', cancels: [{ o: 1, a: 0 }] }
    assert.equal(await requireAgent(lookup(), { ...envelope, action: sent }), AGENT)
  })

  it('names whom a wrong signature recovers to', async () => {
    const envelope = signL1(VECTOR_KEY, { action, nonce: NOW_MS })
    await assert.rejects(requireAgent(lookup(), { ...envelope, nonce: NOW_MS + 1 }), {
      name: 'ExchangeErr',
      message: /^User or API Wallet 0x[0-9a-f]{40} does not exist\. Signed for Mainnet it is 0x[0-9a-f]{40}\.$/,
    })
    const nobody = { engine, agentOf: async () => undefined }
    for (const [source, sources, message] of [
      ['b', ['b'], /^User or API Wallet 0x14791697260e4c9a71f18484c9f997b308e59325 does not exist\.$/],
      ['b', ['b', 'a'], /^User or API Wallet 0x14791697260e4c9a71f18484c9f997b308e59325 does not exist\. /],
      ['a', ['b', 'a'], /does not exist\. Signed for Mainnet it is 0x14791697260e4c9a71f18484c9f997b308e59325\.$/],
    ] as const) {
      const signed = signL1(VECTOR_KEY, { action, nonce: NOW_MS }, source)
      await assert.rejects(requireAgent({ ...nobody, sources }, signed), { message })
    }
    const r = `0x${'f'.repeat(64)}` as Hex
    await assert.rejects(requireAgent(lookup(), { ...envelope, signature: { ...envelope.signature, r } }), {
      message: /^User or API Wallet does not exist: r and s are no signature/,
    })
  })

  it('says so when the agent signed for the network that is not accepted', async () => {
    const envelope = signL1(VECTOR_KEY, { action, nonce: NOW_MS }, 'a')
    await assert.rejects(requireAgent(lookup(['b']), envelope), {
      message: `User or API Wallet ${VECTOR_SIGNER.toLowerCase()} signed for Mainnet, which is not accepted here: switch the network of the client.`,
    })
  })

  it('takes nothing from before the registration', async () => {
    assert.equal(await requireAgent(lookup(), signL1(VECTOR_KEY, { action, nonce: NOW_MS })), AGENT)
    await assert.rejects(requireAgent(lookup(), signL1(VECTOR_KEY, { action, nonce: NOW_MS - 1 })), {
      message: /older than the registration of API Wallet 0x14791697260e4c9a71f18484c9f997b308e59325 at 1731628800000/,
    })
  })
})

describe('requireTimely', () => {
  const refused = (nonce: number, expiresAfter: number | null, message: RegExp) =>
    assert.throws(() => requireTimely({ nonce, expiresAfter }, NOW_MS), { name: 'ExchangeErr', message })

  it('takes what is of now and not expired', () => {
    for (const nonce of [NOW_MS - 60_000, NOW_MS, NOW_MS + 60_000]) requireTimely({ nonce, expiresAfter: null }, NOW_MS)
    for (const expiresAfter of [NOW_MS, NOW_MS + 1]) requireTimely({ nonce: NOW_MS, expiresAfter }, NOW_MS)
  })

  it('refuses the rest', () => {
    refused(NOW_MS - 60_001, null, /^Invalid nonce: 1731628739999 is more than 60 s from server time 1731628800000/)
    refused(NOW_MS + 60_001, null, /^Invalid nonce/)
    refused(NOW_MS, NOW_MS - 1, /^Action expired: expiresAfter 1731628799999/)
    refused(NOW_MS, 0, /^Action expired/)
  })
})
