import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { domainSeparator, hashTypedData, keccak256, toBytes } from 'viem'
import { CHAINS } from './values/chains.ts'
import { AGENT_AUTHORIZATION_FIELDS, EMPTY_BODY_HASH, REQUEST_FIELDS, requestDomain } from './typedData.ts'

// The published vectors of the live service, which hold for its domain name.
const domain = requestDomain({
  name: 'Gains Trading API',
  chainId: CHAINS.arbitrum.chainId,
  diamond: CHAINS.arbitrum.liveDiamond,
})

describe('typed data', () => {
  it('has the domain separator of arbitrum', () => {
    assert.equal(domainSeparator({ domain }), '0xdf0aae34b2e8effb80dd5069f6b60ac9a1d7d6e36b8acf183a5e4a1b4b257662')
  })

  it('hashes a signed request to the golden digest', () => {
    const digest = hashTypedData({
      domain,
      types: { createOrder: REQUEST_FIELDS },
      primaryType: 'createOrder',
      message: {
        method: 'POST',
        path: '/v1/arbitrum/orders?x=1',
        bodyHash: keccak256(toBytes('{"market":"BTC/USD","size":"0.1"}')),
        timestamp: 1_700_000_000_000n,
        nonce: 1_700_000_000_000_001n,
      },
    })
    assert.equal(digest, '0x61dfaa03e9cc0db4071308623b33593ae1643182149ec742e2549fe9fd804d4a')
  })

  it('hashes an authorisation to the golden digest', () => {
    const digest = hashTypedData({
      domain,
      types: { AgentAuthorization: AGENT_AUTHORIZATION_FIELDS },
      primaryType: 'AgentAuthorization',
      message: {
        agent: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
        name: 'bot',
        markets: 'BTC/USD,ETH/USD',
        maxLeverage: '20',
        dailySpendCapUsd: '1000',
        expiresAt: 0n,
        permissions: 'trade',
        timestamp: 1_700_000_000_000n,
      },
    })
    assert.equal(digest, '0x39c515ea9b58c9f56a101c82f6025b8395bde9e547229def730bf1a4ec680b97')
  })

  it('publishes the hash of no bytes', () => {
    assert.equal(EMPTY_BODY_HASH, keccak256(new Uint8Array()))
  })
})
