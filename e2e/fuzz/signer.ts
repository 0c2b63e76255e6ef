import { createRequire } from 'node:module'
import type { Address, SigningDomain } from '@bezel/protocol'
import type { Hex } from 'viem'
import { keccak256 } from '../../packages/server/src/signatures/keccak256.ts'
import { requestDigest } from '../../packages/server/src/signatures/requestDigest.ts'
import type { SignedOperation } from '../../packages/server/src/signatures/signedOperations.ts'

/** The part of the package that is used here; it comes without types. */
interface Secp256k1 {
  readonly ecdsaSign: (
    digest: Uint8Array,
    key: Uint8Array,
  ) => { readonly signature: Uint8Array; readonly recid: number }
}

// Its main file, which falls back to JavaScript where there is no build for the machine: slower, but the same signatures.
const { ecdsaSign } = createRequire(import.meta.url)('secp256k1') as Secp256k1

const V_BASE = 27

/** Somebody with a key. */
export interface Key {
  readonly address: Address
  readonly bytes: Uint8Array
}

export function keyOf(address: string, privateKey: Hex): Key {
  return { address: address.toLowerCase() as Address, bytes: Buffer.from(privateKey.slice(2), 'hex') }
}

/** 65 bytes of hex; low s. */
export function signDigest({ bytes }: Key, digest: Uint8Array): Hex {
  const { signature, recid } = ecdsaSign(digest, bytes)
  return `0x${Buffer.from(signature).toString('hex')}${(V_BASE + recid).toString(16)}`
}

/** What a signature of a request binds. */
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
  // Of an operation that nobody signs, or a number that can't be encoded: then any signature is as good as another.
  return signDigest(key, digest ?? new Uint8Array(32).fill(1))
}
