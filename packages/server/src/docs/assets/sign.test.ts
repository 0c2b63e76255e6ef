import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { REQUEST_FIELDS, SANDBOX_ADDRESSES } from '@bezel/protocol'
import fc from 'fast-check'
import { hashTypedData, keccak256 as viemKeccak, recoverTypedDataAddress, toHex, type Hex } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'

interface Signing {
  readonly domain: {
    readonly name: string
    readonly version: string
    readonly chainId: number
    readonly verifyingContract: Hex
  }
  readonly fields: readonly { readonly name: string; readonly type: string }[]
}

interface SignedCall {
  readonly operationId: string
  readonly method: string
  readonly path: string
  readonly body?: string
  readonly timestamp: number
  readonly nonce: number
}

/** The script of the pages, which browsers load as it is. */
interface SignScript {
  keccak256(bytes: Uint8Array): Uint8Array
  sandboxKey(name: string): Uint8Array
  digestOf(signing: Signing, call: SignedCall): Uint8Array
  signRequest(key: Uint8Array, signing: Signing, call: SignedCall): Hex
}

const script = (await import(new URL('sign.js', import.meta.url).href)) as SignScript

const SIGNING: Signing = {
  domain: {
    name: 'Gains Trading API',
    version: '1',
    chainId: 42_161,
    verifyingContract: '0xFF162c694eAA571f685030649814282eA457f169',
  },
  fields: REQUEST_FIELDS,
}

/** The request of the golden digest, which clients of the live service sign the same. */
const CALL: SignedCall = {
  operationId: 'createOrder',
  method: 'POST',
  path: '/v1/arbitrum/orders?x=1',
  body: '{"market":"BTC/USD","size":"0.1"}',
  timestamp: 1_700_000_000_000,
  nonce: 1_700_000_000_000_001,
}

const bodyHashOf = (body = ''): Hex => viemKeccak(toHex(body))

describe('the signer of the pages', () => {
  it('hashes as another implementation does, at every length around a block', () => {
    for (const length of [0, 1, 31, 32, 134, 135, 136, 137, 271, 272, 273, 1_000]) {
      const bytes = Uint8Array.from({ length }, (_, at) => (at * 7 + length) % 256)
      assert.equal(toHex(script.keccak256(bytes)), viemKeccak(bytes), `${length} bytes`)
    }
  })

  it('has the golden digest of a request', () => {
    const golden = '0x61dfaa03e9cc0db4071308623b33593ae1643182149ec742e2549fe9fd804d4a'
    assert.equal(toHex(script.digestOf(SIGNING, CALL)), golden)
  })

  it('computes the keys of the sandbox', () => {
    for (const name of ['agent-1', 'trader-1']) {
      assert.equal(privateKeyToAddress(toHex(script.sandboxKey(name))), SANDBOX_ADDRESSES[name])
    }
  })

  it('makes signatures that recover to the agent, never with the larger s', async () => {
    const key = script.sandboxKey('agent-1')
    const texts = fc.string({ maxLength: 200 })
    await fc.assert(
      fc.asyncProperty(texts, texts, fc.nat(), async (path, body, nonce) => {
        const call = { ...CALL, path, body, nonce }
        const { method, timestamp, operationId } = call
        const signature = script.signRequest(key, SIGNING, call)
        const typedData = {
          domain: SIGNING.domain,
          primaryType: operationId,
          types: { [operationId]: REQUEST_FIELDS },
          message: { method, path, bodyHash: bodyHashOf(body), timestamp: BigInt(timestamp), nonce: BigInt(nonce) },
        }
        assert.equal(hashTypedData(typedData), toHex(script.digestOf(SIGNING, call)))
        assert.equal(await recoverTypedDataAddress({ ...typedData, signature }), SANDBOX_ADDRESSES['agent-1'])
        assert.ok(BigInt(`0x${signature.slice(66, 130)}`) <= HALF_ORDER)
      }),
      { numRuns: 8 },
    )
  })
})

const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n
