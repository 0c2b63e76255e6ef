import { createRequire } from 'node:module'
import type { Address, SigningDomain } from '@bezel/protocol'
import type { Hex } from 'viem'
import { keccak256 } from '../../packages/server/src/signatures/typedData.ts'
import { requestDigest, type SignedOperation } from '../../packages/server/src/signatures/verifyRequest.ts'

/** The functions used from the package, which has no types. */
interface Secp256k1 {
  readonly ecdsaSign: (
    digest: Uint8Array,
    key: Uint8Array,
  ) => { readonly signature: Uint8Array; readonly recid: number }
}

// The package's main file falls back to JavaScript where there is no build for the machine: slower, but with the same
// signatures.
const { ecdsaSign } = createRequire(import.meta.url)('secp256k1') as Secp256k1

const V_BASE = 27

/** A private key with its address. */
export interface Key {
  readonly address: Address
  readonly bytes: Uint8Array
}

export function keyOf(address: string, privateKey: Hex): Key {
  return { address: address.toLowerCase() as Address, bytes: Buffer.from(privateKey.slice(2), 'hex') }
}

/** Signs a digest: 65 bytes of hex, s in the lower half. */
export function signDigest({ bytes }: Key, digest: Uint8Array): Hex {
  const { signature, recid } = ecdsaSign(digest, bytes)
  return `0x${Buffer.from(signature).toString('hex')}${(V_BASE + recid).toString(16)}`
}

/** The parts of a request that its signature covers. */
export interface SignedParts {
  readonly operation: string
  readonly method: string
  readonly path: string
  readonly body: Uint8Array
  readonly timestamp: string
  readonly nonce: string
}

export function signRequest(key: Key, domain: SigningDomain, of: SignedParts): Hex {
  const digest = requestDigest({
    domain,
    operationId: of.operation as SignedOperation,
    method: of.method,
    path: of.path,
    bodyHash: keccak256(of.body),
    timestamp: of.timestamp,
    nonce: of.nonce,
  })
  // An operation that nobody signs, or a number that can't be encoded, has no digest; any signature serves then.
  return signDigest(key, digest ?? new Uint8Array(32).fill(1))
}
