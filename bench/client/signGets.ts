import { createRequire } from 'node:module'
import type { SigningDomain } from '@bezel/protocol'
import { keccak256 } from '../../packages/server/src/signatures/keccak256.ts'
import { requestDigest } from '../../packages/server/src/signatures/requestDigest.ts'
import type { SignedOperation } from '../../packages/server/src/signatures/signedOperations.ts'

// Signed requests for the clients of benchmarks, made ahead: what is measured is the server's cost and not the client's.

/** Who signs, and what for. */
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

/** Ready-made bytes of so many GETs, each with a nonce of its own. They are good for the half minute that timestamps are. */
export function signGets({ privateKey, agent, domain, operation }: Signer, path: string, count: number): Buffer[] {
  const key = Buffer.from(privateKey.slice(2), 'hex')
  return Array.from({ length: count }, () => {
    lastNonce = Math.max(Date.now() * 1_000, lastNonce + 1)
    const [timestamp, nonce] = [String(Date.now()), String(lastNonce)]
    const struct = { domain, operationId: operation, method: 'GET', path, bodyHash: NO_BODY_HASH, timestamp, nonce }
    const { signature, recid } = ecdsaSign(requestDigest(struct)!, key)
    const headers = [
      `GET ${path} HTTP/1.1`,
      'host: bench',
      `x-service-agent: ${agent}`,
      `x-service-timestamp: ${timestamp}`,
      `x-service-nonce: ${nonce}`,
      `x-service-signature: 0x${Buffer.from(signature).toString('hex')}${(27 + recid).toString(16)}`,
    ]
    return Buffer.from(`${headers.join('\r\n')}\r\n\r\n`)
  })
}
