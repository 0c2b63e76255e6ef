import { addressBytes } from '../../signatures/addressBytes.ts'
import { keccak256 } from '../../signatures/keccak256.ts'
import { encodeAction } from './encodeAction.ts'
import type { Envelope } from './envelope.ts'

/** What of an envelope the hash covers: all but the signature. */
export type SignedParts = Pick<Envelope, 'action' | 'nonce' | 'vaultAddress' | 'expiresAfter'>

const UINT64_BYTES = 8
const NO_VAULT = Uint8Array.of(0)
const NOTHING = new Uint8Array()

/** Hash of an L1 action with its nonce, vault and expiry: what the phantom agent stands for. */
export function connectionId({ action, nonce, vaultAddress, expiresAfter }: SignedParts): Uint8Array {
  const parts = [encodeAction(action), uint64(nonce), vaultPart(vaultAddress), expiryPart(expiresAfter)]
  return keccak256(Buffer.concat(parts))
}

function vaultPart(vaultAddress: Envelope['vaultAddress']): Uint8Array {
  if (vaultAddress === null) return NO_VAULT
  return Uint8Array.of(1, ...(addressBytes(vaultAddress) ?? NOTHING))
}

/** Unlike the vault, no expiry leaves no byte. */
function expiryPart(expiresAfter: number | null): Uint8Array {
  return expiresAfter === null ? NOTHING : Uint8Array.of(0, ...uint64(expiresAfter))
}

/** Big endian. */
function uint64(value: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(UINT64_BYTES)
  bytes.writeUInt32BE(Math.floor(value / 2 ** 32), 0)
  bytes.writeUInt32BE(value % 2 ** 32, UINT64_BYTES / 2)
  return bytes
}
