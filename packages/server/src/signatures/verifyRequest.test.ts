import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CHAINS, REQUEST_FIELDS, requestDomain, type Address, EMPTY_BODY_HASH } from '@bezel/protocol'
import fc from 'fast-check'
import { keccak256 as viemKeccak256, parseSignature as viemParseSignature, hashTypedData, toBytes, toHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import {
  type SignedOperation,
  verifyRequest,
  type SignedRequest,
  requestDigest,
  type RequestStruct,
  SIGNED_OPERATIONS,
} from './verifyRequest.ts'
import { ARBITRUM_DOMAIN, anyDomain, anyText } from './testing/domains.ts'
import { ENGINES } from './testing/engines.ts'
import { CURVE_ORDER, signatureText } from './testing/hostileSignatures.ts'
import { keccak256 } from './typedData.ts'

const struct: RequestStruct = {
  domain: ARBITRUM_DOMAIN,
  operationId: 'createOrder',
  method: 'POST',
  path: '/v1/arbitrum/orders?x=1',
  bodyHash: keccak256(toBytes('{"market":"BTC/USD","size":"0.1"}')),
  timestamp: '1700000000000',
  nonce: '1700000000000001',
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

const account = privateKeyToAccount(`0x${'42'.repeat(32)}`)

const stranger = privateKeyToAccount(`0x${'43'.repeat(32)}`)

type Unsigned = Omit<SignedRequest, 'signature' | 'agent'>

const order: Unsigned = {
  domain: ARBITRUM_DOMAIN,
  operationId: 'createOrder',
  method: 'POST',
  path: '/v1/arbitrum/orders?x=1',
  body: Buffer.from('{"market":"BTC/USD","size":"0.1"}'),
  timestamp: '1700000000000',
  nonce: '1700000000000001',
}

/** Signs as a client does: with viem, independently of the code under test. */
async function sign(request: Unsigned): Promise<SignedRequest> {
  const { domain, operationId, method, path, body } = request
  const [timestamp, nonce] = [BigInt(request.timestamp), BigInt(request.nonce)]
  const signature = await account.signTypedData({
    domain,
    types: { [operationId]: REQUEST_FIELDS },
    primaryType: operationId,
    message: { method, path, bodyHash: viemKeccak256(body), timestamp, nonce },
  })
  return { ...request, signature, agent: account.address }
}

const signed = await sign(order)

for (const engine of ENGINES) {
  const verifies = (request: SignedRequest): boolean => verifyRequest(engine, request).isValid

  describe(`verifyRequest with the ${engine.name} engine`, () => {
    it('accepts what the agent signed', () => assert.ok(verifies(signed)))

    it('accepts any case of the agent', () => {
      assert.ok(verifies({ ...signed, agent: account.address.toLowerCase() }))
      assert.ok(verifies({ ...signed, agent: `0x${account.address.slice(2).toUpperCase()}` }))
    })

    it('accepts requests without a body and the handshake of the stream', async () => {
      const body = new Uint8Array()
      const path = '/v1/arbitrum/account/0x00/positions'
      assert.ok(verifies(await sign({ ...order, operationId: 'listPositions', method: 'GET', path, body })))
      assert.ok(verifies(await sign({ ...order, operationId: 'wsAuth', method: 'WS', path: '/v1/arbitrum/ws', body })))
    })

    it('accepts numbers up to 256 bits', async () => {
      const max = String(2n ** 256n - 1n)
      assert.ok(verifies(await sign({ ...order, timestamp: max, nonce: max })))
    })

    it('refuses a request that differs in one place', () => {
      const { chainId, name } = ARBITRUM_DOMAIN
      const diamond = CHAINS.arbitrum.liveDiamond
      const domains = [
        requestDomain({ name: 'Bezel Trading API', chainId, diamond }),
        requestDomain({ name, chainId: CHAINS.base.chainId, diamond }),
        requestDomain({ name, chainId, diamond: CHAINS.base.liveDiamond }),
      ]
      const changes: Partial<SignedRequest>[] = [
        ...domains.map((domain) => ({ domain })),
        { operationId: 'updateOrder' },
        { operationId: 'health' as SignedOperation },
        { method: 'post' },
        { method: 'PATCH' },
        { path: '/v1/arbitrum/orders?x=2' },
        { path: '/v1/arbitrum/orders?x=1 ' },
        { body: Buffer.from('{"market":"BTC/USD","size":"0.1"} ') },
        { body: new Uint8Array() },
        { timestamp: '1700000000001' },
        { nonce: '1700000000000002' },
        { agent: stranger.address },
      ]
      for (const change of changes) assert.equal(verifies({ ...signed, ...change }), false, JSON.stringify(change))
      assert.ok(verifies(signed))
    })

    it('refuses a nonce or a time in another form, so that one signature has one text', () => {
      for (const form of [
        '01700000000000001',
        '+1700000000000001',
        '1700000000000001.0',
        '0x60a24181e4001',
        ' 1700000000000001',
      ]) {
        assert.equal(verifies({ ...signed, nonce: form }), false)
      }
      assert.equal(verifies({ ...signed, timestamp: '01700000000000' }), false)
    })

    it('refuses the other signature that says the same', () => {
      const { r, s, yParity } = viemParseSignature(signed.signature as `0x${string}`)
      const twin = signatureText({ r: BigInt(r), s: CURVE_ORDER - BigInt(s), v: 28 - yParity })
      assert.equal(verifies({ ...signed, signature: twin }), false)
    })

    it('refuses anything malformed and never throws', () => {
      const texts = ['', '0x', 'null', '\0', '\ud800', '9'.repeat(79), '9'.repeat(100_000), `0x${'00'.repeat(65)}`]
      for (const text of texts) {
        for (const name of ['signature', 'agent', 'timestamp', 'nonce', 'path', 'method'] as const) {
          assert.equal(verifies({ ...signed, [name]: text }), false, `${name} ${text.slice(0, 20)}`)
        }
      }
      assert.equal(verifies({ ...signed, agent: '0x0000000000000000000000000000000000000000' as Address }), false)
    })

    it('refuses a body with any one bit changed', () => {
      const place = fc.nat({ max: order.body.length * 8 - 1 })
      fc.assert(
        fc.property(place, (index) => {
          const body = Uint8Array.from(order.body)
          body[index >> 3] = (body[index >> 3] ?? 0) ^ (1 << (index & 7))
          assert.equal(verifies({ ...signed, body }), false)
        }),
        { numRuns: 50 },
      )
    })
  })
}

describe('requestDigest', () => {
  it('is the published one', () => {
    const published = '0x61dfaa03e9cc0db4071308623b33593ae1643182149ec742e2549fe9fd804d4a'
    assert.equal(toHex(requestDigest(struct) ?? ''), published)
  })

  it('equals the reference for any request', () => {
    fc.assert(
      fc.property(anyRequest, (any) => assert.deepEqual(requestDigest(any), viemDigest(any))),
      { numRuns: 1_000 },
    )
  })

  it('equals the reference for the handshake of the stream', () => {
    const bodyHash = toBytes(EMPTY_BODY_HASH)
    const handshake = { ...struct, operationId: 'wsAuth', method: 'WS', path: '/v1/arbitrum/ws', bodyHash } as const
    assert.deepEqual(requestDigest(handshake), viemDigest(handshake))
  })

  it('differs for every operation', () => {
    const digests = SIGNED_OPERATIONS.map((operationId) => toHex(requestDigest({ ...struct, operationId }) ?? ''))
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
    for (const change of bad) assert.equal(requestDigest({ ...struct, ...change }), undefined)
    assert.deepEqual(requestDigest(struct), viemDigest(struct))
  })
})

function viemDigest({ domain, operationId, bodyHash, timestamp, nonce, ...text }: RequestStruct): Uint8Array {
  const message = { ...text, bodyHash: toHex(bodyHash), timestamp: BigInt(timestamp), nonce: BigInt(nonce) }
  return toBytes(hashTypedData({ domain, types: { [operationId]: REQUEST_FIELDS }, primaryType: operationId, message }))
}
