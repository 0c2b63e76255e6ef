import { parseAddress, type Address, type Hex, diamondAbi } from '@bezel/protocol'
import { getAbiItem, toFunctionSelector } from 'viem'
import { keccak256 } from '../../signatures/typedData.ts'
import { encodeTransaction, type FeeTransaction } from './encodeTransaction.ts'
import type { SigningEngine } from './signingEngine.ts'

/** The only key that the process holds. It can't be read back, and signs only through a `RelaySigner`. */
export interface RelayerKey {
  readonly address: Address
  signerOf(chain: { readonly chainId: number; readonly diamond: Address }): RelaySigner
}

/** Signs for one chain and its Diamond. */
export interface RelaySigner {
  readonly address: Address
  /** Signs a transaction. Throws a `ForbiddenTransactionError` for any but the two allowed shapes. */
  sign(transaction: FeeTransaction): SignedTransaction
}

interface SignedTransaction {
  readonly hash: Hex
  /** The bytes to send. */
  readonly raw: Hex
}

/** The offset of the address in the hash of a public key: its last 20 bytes. */
const ADDRESS_START = 12

/** Creates the key. Throws when the 32 bytes are not a valid private key. */
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

/** Function selector of `delegatedTradingAction`. */
export const ACTION_SELECTOR = toFunctionSelector(getAbiItem({ abi: diamondAbi, name: 'delegatedTradingAction' }))

/** The length of empty call data, `0x`. */
const EMPTY_LENGTH = 2

interface AllowedParties {
  readonly diamond: Address
  /** The address of the key. */
  readonly self: Address
}

/**
 * Throws a `ForbiddenTransactionError` for all but two shapes: an action of a trader on the Diamond, and a transfer of
 * nothing to itself, which burns a nonce. So even a fault elsewhere can make the key neither pay anybody nor call
 * another contract.
 */
function requireShape({ to, value, data }: FeeTransaction, { diamond, self }: AllowedParties): void {
  const isAction = to === diamond && data.startsWith(ACTION_SELECTOR)
  const isBurn = to === self && data.length === EMPTY_LENGTH
  if (value !== 0n || diamond === self || isAction === isBurn) throw new ForbiddenTransactionError()
}

/** Thrown when the relayer is asked for a signature that it never gives. */
export class ForbiddenTransactionError extends Error {
  override readonly name = 'ForbiddenTransactionError'

  constructor() {
    super('the relayer signs actions on the Diamond and empty transfers to itself, and nothing else')
  }
}
