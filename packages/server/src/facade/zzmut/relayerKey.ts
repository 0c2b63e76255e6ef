import { parseAddress, type Address, type Hex } from '@bezel/protocol'
import { keccak256 } from '../../signatures/keccak256.ts'
import { encodeTransaction, type FeeTransaction } from './encodeTransaction.ts'
import { requireShape } from './requireShape.ts'
import type { SigningEngine } from './signingEngine.ts'

/** The only key that the process holds. It can't be read back, nor sign anything but what a `RelaySigner` signs. */
export interface RelayerKey {
  readonly address: Address
  signerOf(chain: { readonly chainId: number; readonly diamond: Address }): RelaySigner
}

/** Signs for one chain and its Diamond. */
export interface RelaySigner {
  readonly address: Address
  /** Throws a `ForbiddenTransactionError` for any but the two shapes. */
  sign(transaction: FeeTransaction): SignedTransaction
}

export interface SignedTransaction {
  readonly hash: Hex
  /** The bytes to send. */
  readonly raw: Hex
}

/** Of the hash of a public key, the last 20 bytes are the address. */
const ADDRESS_START = 12

/** Throws when the 32 bytes are no key. */
export function createRelayerKey(key: Uint8Array, engine: SigningEngine): RelayerKey {
  const self = addressOf(engine.publicKeyOf(key))
  return {
    address: self,
    signerOf: ({ chainId, diamond }) => ({
      address: self,
      sign(transaction) {
        requireShape(transaction, { diamond, self })
        const signature = engine.sign(keccak256(encodeTransaction(chainId, transaction)), key)
        const bytes = encodeTransaction(chainId, transaction, signature)
        return { hash: hexOf(keccak256(bytes)), raw: hexOf(bytes) }
      },
    }),
  }
}

function addressOf(publicKey: Uint8Array): Address {
  return parseAddress(hexOf(keccak256(publicKey.subarray(1)).subarray(ADDRESS_START)))!
}

function hexOf(bytes: Uint8Array): Hex {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex')}` as Hex
}
