import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { EMPTY_BODY_HASH, REQUEST_FIELDS } from '@bezel/protocol'
import fc from 'fast-check'
import { hashTypedData, toBytes, toHex } from 'viem'
import { keccak256 } from './keccak256.ts'
import { requestDigest, type RequestStruct } from './requestDigest.ts'
import { SIGNED_OPERATIONS, type SignedOperation } from './signedOperations.ts'
import { anyDomain, anyText, ARBITRUM_DOMAIN } from './testing/domains.ts'

const request: RequestStruct = {
  domain: ARBITRUM_DOMAIN,
  operationId: 'createOrder',
  method: 'POST',
  path: '/v1/arbitrum/orders?x=1',
  bodyHash: keccak256(toBytes('{"market":"BTC/USD","size":"0.1"}')),
  timestamp: '1700000000000',
  nonce: '1700000000000001',
}

function viemDigest({ domain, operationId, bodyHash, timestamp, nonce, ...text }: RequestStruct): Uint8Array {
  const message = { ...text, bodyHash: toHex(bodyHash), timestamp: BigInt(timestamp), nonce: BigInt(nonce) }
  return toBytes(hashTypedData({ domain, types: { [operationId]: REQUEST_FIELDS }, primaryType: operationId, message }))
}

const uint256 = fc.oneof(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), fc.maxSafeNat().map(BigInt)).map(String)
const anyRequest = fc.record({
  domain: fc.oneof(fc.constant(ARBITRUM_DOMAIN), anyDomain),
  operationId: fc.constantFrom(...SIGNED_OPERATIONS),
  method: fc.oneof(fc.constantFrom('GET', 'POST', 'PATCH', 'DELETE', 'WS', 'PUT', 'get', ''), anyText),
  path: fc.oneof(anyText, fc.webPath(), fc.string({ unit: 'binary', minLength: 500, maxLength: 4_000 })),
  bodyHash: fc.oneof(fc.constant(new Uint8Array()), fc.uint8Array({ maxLength: 2_000 })).map(keccak256),
  timestamp: uint256,
  nonce: uint256,
})

describe('requestDigest', () => {
  it('is the published one', () => {
    const published = '0x61dfaa03e9cc0db4071308623b33593ae1643182149ec742e2549fe9fd804d4a'
    assert.equal(toHex(requestDigest(request) ?? ''), published)
  })

  it('equals the reference for any request', () => {
    fc.assert(
      fc.property(anyRequest, (any) => assert.deepEqual(requestDigest(any), viemDigest(any))),
      { numRuns: 1_000 },
    )
  })

  it('equals the reference for the handshake of the stream', () => {
    const bodyHash = toBytes(EMPTY_BODY_HASH)
    const handshake = { ...request, operationId: 'wsAuth', method: 'WS', path: '/v1/arbitrum/ws', bodyHash } as const
    assert.deepEqual(requestDigest(handshake), viemDigest(handshake))
  })

  it('differs for every operation', () => {
    const digests = SIGNED_OPERATIONS.map((operationId) => toHex(requestDigest({ ...request, operationId }) ?? ''))
    assert.equal(new Set(digests).size, SIGNED_OPERATIONS.length)
  })

  it('is none when a value can not be encoded, and the next one is right again', () => {
    const bad: Partial<RequestStruct>[] = [
      { timestamp: '' },
      { nonce: '-1' },
      { nonce: String(2n ** 256n) },
      { bodyHash: new Uint8Array(31) },
      { bodyHash: new Uint8Array(33) },
      { operationId: 'health' as SignedOperation },
      { operationId: '__proto__' as SignedOperation },
    ]
    for (const change of bad) assert.equal(requestDigest({ ...request, ...change }), undefined)
    assert.deepEqual(requestDigest(request), viemDigest(request))
  })
})
