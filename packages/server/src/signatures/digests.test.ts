import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { AGENT_AUTHORIZATION_FIELDS, AGENT_REVOCATION_FIELDS, API_KEY_ISSUE_FIELDS } from '@bezel/protocol'
import fc from 'fast-check'
import { hashTypedData, toHex } from 'viem'
import {
  agentAuthorization,
  type AuthorizationMessage,
  agentRevocation,
  apiKeyIssue,
  type SignedStruct,
} from './digests.ts'
import { anyAddress, anyDomain, anyText, ARBITRUM_DOMAIN } from './testing/domains.ts'

const domain = ARBITRUM_DOMAIN

const authorization: AuthorizationMessage = {
  agent: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  name: 'bot',
  markets: ['BTC/USD', 'ETH/USD'],
  maxLeverage: '20',
  dailySpendCapUsd: '1000',
  expiresAt: null,
  permissions: 'trade',
  timestamp: 1_700_000_000_000,
}

const hexOf = ({ digest }: SignedStruct): string => toHex(digest ?? '')

const nullable = fc.option(anyText)

describe('agentAuthorization', () => {
  it('is the published one', () => {
    const published = '0x39c515ea9b58c9f56a101c82f6025b8395bde9e547229def730bf1a4ec680b97'
    assert.equal(hexOf(agentAuthorization(domain, authorization)), published)
  })

  it('equals the reference, with the encoding of each absent value', () => {
    const any = fc.record({
      domain: anyDomain,
      agent: anyAddress,
      name: nullable,
      markets: fc.oneof(fc.constant('all' as const), fc.array(anyText)),
      maxLeverage: nullable,
      dailySpendCapUsd: nullable,
      expiresAt: fc.option(fc.maxSafeNat()),
      permissions: anyText,
      timestamp: fc.maxSafeNat(),
    })
    fc.assert(
      fc.property(any, (of) => {
        const message = {
          agent: of.agent,
          name: of.name ?? '',
          markets: of.markets === 'all' ? '*' : of.markets.join(','),
          maxLeverage: of.maxLeverage ?? '',
          dailySpendCapUsd: of.dailySpendCapUsd ?? '',
          expiresAt: BigInt(of.expiresAt ?? 0),
          permissions: of.permissions,
          timestamp: BigInt(of.timestamp),
        }
        const types = { AgentAuthorization: AGENT_AUTHORIZATION_FIELDS }
        const expected = hashTypedData({ domain: of.domain, types, primaryType: 'AgentAuthorization', message })
        assert.equal(hexOf(agentAuthorization(of.domain, of)), expected)
      }),
      { numRuns: 300 },
    )
  })

  it('keeps the order of the markets', () => {
    const turned = { ...authorization, markets: ['ETH/USD', 'BTC/USD'] }
    assert.notEqual(hexOf(agentAuthorization(domain, turned)), hexOf(agentAuthorization(domain, authorization)))
  })

  it('is none when a value can not be encoded', () => {
    const bad: Partial<AuthorizationMessage>[] = [
      { agent: '0x' },
      { expiresAt: -1 },
      { expiresAt: 0.5 },
      { timestamp: 1e300 },
    ]
    for (const change of bad)
      assert.equal(agentAuthorization(domain, { ...authorization, ...change }).digest, undefined)
  })
})

describe('agentRevocation', () => {
  it('equals the reference', () => {
    fc.assert(
      fc.property(anyDomain, anyAddress, fc.maxSafeNat(), (anyOf, agent, timestamp) => {
        const types = { AgentRevocation: AGENT_REVOCATION_FIELDS }
        const message = { agent, timestamp: BigInt(timestamp) }
        const expected = hashTypedData({ domain: anyOf, types, primaryType: 'AgentRevocation', message })
        assert.equal(hexOf(agentRevocation(anyOf, { agent, timestamp })), expected)
      }),
    )
  })

  it('is none when a value can not be encoded', () => {
    assert.equal(agentRevocation(domain, { agent: 'bot', timestamp: 1 }).digest, undefined)
    assert.equal(agentRevocation(domain, { agent: authorization.agent, timestamp: -1 }).digest, undefined)
  })
})

describe('apiKeyIssue', () => {
  it('equals the reference', () => {
    fc.assert(
      fc.property(anyDomain, anyText, fc.maxSafeNat(), (anyOf, label, timestamp) => {
        const types = { ApiKeyIssue: API_KEY_ISSUE_FIELDS }
        const message = { label, timestamp: BigInt(timestamp) }
        const expected = hashTypedData({ domain: anyOf, types, primaryType: 'ApiKeyIssue', message })
        assert.equal(hexOf(apiKeyIssue(anyOf, { label, timestamp })), expected)
      }),
    )
  })

  it('is none when a value can not be encoded', () => {
    assert.equal(apiKeyIssue(domain, { label: 'x', timestamp: 1.5 }).digest, undefined)
  })
})
