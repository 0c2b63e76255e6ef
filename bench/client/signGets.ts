import { createRequire } from 'node:module'
import type { SigningDomain } from '@bezel/protocol'
import { keccak256 } from '../../packages/server/src/signatures/typedData.ts'
import { requestDigest, type SignedOperation } from '../../packages/server/src/signatures/verifyRequest.ts'

// Signed requests for the clients of benchmarks, made beforehand so that the server's cost is measured and not the
// client's.

/** The key that signs, and the operation that it signs for. */
export interface Signer {
  readonly privateKey: string
  readonly agent: string
  readonly domain: SigningDomain
  readonly operation: SignedOperation
}

interface Secp256k1 {
  readonly ecdsaSign: (digest: Uint8Array, key: Uint8Array) => { signature: Uint8Array; recid: number }
}

const { ecdsaSign } = createRequire(import.meta.url)('secp256k1') as Secp256k1

const NO_BODY_HASH = keccak256(new Uint8Array(0))

let lastNonce = 0

/** Returns the headers of one signed GET with a fresh nonce. */
export function signedHeaders(
  { privateKey, agent, domain, operation }: Signer,
  path: string,
): Readonly<Record<string, string>> {
  lastNonce = Math.max(Date.now() * 1_000, lastNonce + 1)
  const [timestamp, nonce] = [String(Date.now()), String(lastNonce)]
  const struct = { domain, operationId: operation, method: 'GET', path, bodyHash: NO_BODY_HASH, timestamp, nonce }
  const { signature, recid } = ecdsaSign(requestDigest(struct)!, Buffer.from(privateKey.slice(2), 'hex'))
  return {
    'x-service-agent': agent,
    'x-service-timestamp': timestamp,
    'x-service-nonce': nonce,
    'x-service-signature': `0x${Buffer.from(signature).toString('hex')}${(27 + recid).toString(16)}`,
  }
}

/** Returns the bytes of `count` signed GETs. They are valid for 30 s, the tolerance of timestamps. */
export function signGets(signer: Signer, path: string, count: number): Buffer[] {
  return Array.from({ length: count }, () => {
    const headers = Object.entries(signedHeaders(signer, path)).map(([name, value]) => `${name}: ${value}`)
    return Buffer.from([`GET ${path} HTTP/1.1`, 'host: bench', ...headers, '\r\n'].join('\r\n'))
  })
}
