import { CHAINS, requestDomain, type Address, type SigningDomain } from '@bezel/protocol'
import fc from 'fast-check'
import { toHex } from 'viem'

/** Domain of the live service, for which digests are published. */
export const ARBITRUM_DOMAIN: SigningDomain = requestDomain({
  name: 'Gains Trading API',
  chainId: CHAINS.arbitrum.chainId,
  diamond: CHAINS.arbitrum.liveDiamond,
})

/** Any text that a client may send: every plane of Unicode, and halves of surrogate pairs. */
export const anyText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: 'grapheme' }),
  fc.array(fc.integer({ min: 0, max: 0xffff })).map((codes) => String.fromCharCode(...codes)),
)

/** Any address in lower case, because the digest must not depend on a checksum. */
export const anyAddress: fc.Arbitrary<Address> = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => toHex(bytes) as Address)

export const anyDomain: fc.Arbitrary<SigningDomain> = fc
  .record({ name: anyText, chainId: fc.maxSafeNat(), diamond: anyAddress })
  .map(requestDomain)
