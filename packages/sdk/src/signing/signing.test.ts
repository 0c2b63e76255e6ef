import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SigningDomain } from '@bezel/protocol/wire'
import { hashTypedData, recoverTypedDataAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { agentAuthorizationTypedData, requestTypedData } from './typedData.ts'
import { authMessage, nextNonce, signRequest } from './signRequest.ts'
import { nextTimestamp } from '../agents/createAgents.ts'

/** The domain of the golden digests: clients of that deployment sign the same. */
const DOMAIN: SigningDomain = {
  name: 'Gains Trading API',
  version: '1',
  chainId: 42_161,
  verifyingContract: '0xFF162c694eAA571f685030649814282eA457f169',
}

describe('signing', () => {
  it('has the golden digest of a request', () => {
    const request = {
      operationId: 'createOrder',
      method: 'POST',
      path: '/v1/arbitrum/orders?x=1',
      body: '{"market":"BTC/USD","size":"0.1"}',
      timestamp: 1_700_000_000_000n,
      nonce: 1_700_000_000_000_001n,
    }
    const digest = hashTypedData(requestTypedData(DOMAIN, request) as never)
    assert.equal(digest, '0x61dfaa03e9cc0db4071308623b33593ae1643182149ec742e2549fe9fd804d4a')
  })

  it('has the golden digest of an authorisation', () => {
    const authorization = {
      agent: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
      name: 'bot',
      scope: {
        markets: ['BTC/USD', 'ETH/USD'],
        maxLeverage: '20',
        dailySpendCapUsd: '1000',
        expiresAt: null,
        permissions: 'trade',
      },
      timestamp: 1_700_000_000_000,
    } as const
    const struct = agentAuthorizationTypedData(DOMAIN, {
      ...authorization,
      scope: { ...authorization.scope, markets: ['BTC/USD', 'ETH/USD'] },
    })
    const digest = hashTypedData(struct as never)
    assert.equal(digest, '0x39c515ea9b58c9f56a101c82f6025b8395bde9e547229def730bf1a4ec680b97')
  })

  it('never uses a nonce twice, nor one behind the clock', async () => {
    const signer = privateKeyToAccount(generatePrivateKey()).address
    const nonces = Array.from({ length: 5_000 }, () => nextNonce(1, signer, 1_000, 0))
    assert.equal(new Set(nonces).size, nonces.length)
    assert.deepEqual(
      nonces.toSorted((one, other) => Number(one - other)),
      nonces,
    )
    assert.equal(nonces[0], 1_000_000n)
    assert.equal(nextNonce(1, signer, 2_000_000, 0), 2_000_000_000n)
    assert.equal(nextNonce(1, signer, 1_000, 0), 2_000_000_001n, 'a clock that was set back takes nothing back')
    assert.equal(nextNonce(1, signer.toLowerCase(), 1_000, 0), 2_000_000_002n, 'however the signer is written')
    assert.equal(nextNonce(2, signer, 1_000, 0), 1_000_000n, 'each chain counts for itself')
    assert.equal(nextNonce(3, signer, 1_000, 0.9999), 1_000_999n, 'two processes rarely choose the same')
  })

  it('gives structs of one trader ever newer times', () => {
    const trader = privateKeyToAccount(generatePrivateKey()).address
    const times = [5, 5, 4, 9].map((nowMs) => nextTimestamp(trader, nowMs))
    assert.deepEqual(times, [5, 6, 7, 9])
  })

  it('signs requests and stream handshakes that recover to the agent, each with a nonce of its own', async () => {
    const agent = privateKeyToAccount(generatePrivateKey())
    const of = {
      agent,
      domain: DOMAIN,
      operationId: 'getOrder',
      method: 'GET',
      path: '/v1/arbitrum/orders/1',
      nowMs: 7,
    }
    const proofs = await Promise.all(Array.from({ length: 20 }, () => signRequest(of)))
    assert.equal(new Set(proofs.map(({ nonce }) => nonce)).size, 20)
    const { timestamp, nonce, signature } = proofs[3]!
    const request = { ...of, timestamp: BigInt(timestamp), nonce: BigInt(nonce) }
    const typedData = requestTypedData(DOMAIN, request)
    assert.equal(await recoverTypedDataAddress({ ...typedData, signature } as never), agent.address)

    const auth = await authMessage({ chain: 'arbitrum', agent, domain: DOMAIN, nowMs: 9 })
    assert.deepEqual([auth.op, auth.agent, auth.timestamp], ['auth', agent.address, '9'])
    const handshake = {
      operationId: 'wsAuth',
      method: 'WS',
      path: '/v1/arbitrum/ws',
      timestamp: 9n,
      nonce: BigInt(auth.nonce),
    }
    const struct = requestTypedData(DOMAIN, handshake)
    assert.equal(await recoverTypedDataAddress({ ...struct, signature: auth.signature } as never), agent.address)
  })
})
