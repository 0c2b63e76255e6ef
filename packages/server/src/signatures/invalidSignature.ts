import { ApiError, parseAddress, type Address } from '@bezel/protocol'
import type { SignedStruct } from './digests.ts'
import type { CheckedSignature } from './recovery.ts'

/** The struct of a signature that is not the one of the address that claims it. */
export interface RefusedSignature extends Pick<SignedStruct, 'type' | 'domain' | 'digest'> {
  readonly signer: CheckedSignature['signer']
  /** The address that should have signed. */
  readonly address: Address
}

/** The request in which a signature came. */
export interface ReceivedCall {
  readonly operationId: string
  readonly path: string
  /** Keccak-256 hash of the body as received, 32 bytes. */
  readonly bodyHash: Uint8Array
}

/**
 * Returns the refusal of a signature, with everything that it was checked against, so that its sender finds the value
 * in which the two sides differ. All of it is public or the caller's own.
 */
export function invalidSignature(
  { type, domain, digest, signer, address }: RefusedSignature,
  { operationId, path, bodyHash }: ReceivedCall,
  further: Readonly<Record<string, unknown>>,
): ApiError {
  const recovered = signer === undefined ? null : (parseAddress(hexOf(signer)) ?? null)
  const message =
    `The signature is of ${recovered ?? 'nobody'}, not of ${address}. It was checked as EIP-712 typed data of the type ` +
    `${type} (primary type ${type.slice(0, type.indexOf('('))}) over the domain and the values in details: sign exactly ` +
    'these. If your own digest is details.digest, another key signed, or the wallet signed a text (personal_sign).'
  return new ApiError('INVALID_SIGNATURE', message, {
    operationId,
    path,
    bodyHash: hexOf(bodyHash),
    ...further,
    domain,
    digest: digest === undefined ? null : hexOf(digest),
    recovered,
  })
}

function hexOf(bytes: Uint8Array): `0x${string}` {
  return `0x${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}`
}
